// Numbers as people read them.

export const NOTHING = "–";
const known = (value) => value !== null && value !== undefined;

export const percent = (share, digits = 1) => (known(share) ? `${(100 * share).toFixed(digits)} %` : NOTHING);

export const count = (number) => number.toLocaleString("en");

export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

export function decimal(value, digits = 3) {
  if (!known(value)) return NOTHING;
  if (Math.abs(value) >= 1000) return value < 1e12 ? count(Math.round(value)) : value.toExponential(2);
  return value === 0 ? "0" : value.toPrecision(digits);
}

// On an axis: without zeros that say nothing.
export const mark = (value) => String(Number(value.toPrecision(3)));

export const short = (format) => (value) =>
  format(value).replace(/\.(\d*?)0+ /, (_, digits) => (digits ? `.${digits} ` : " "));

export function seconds(value) {
  if (!known(value)) return NOTHING;
  if (value < 0.0005) return "0 s";
  if (value < 1) return `${(1000 * value).toFixed(0)} ms`;
  if (value < 90) return `${value.toFixed(value < 10 ? 2 : 1)} s`;
  if (value < 5400) return `${(value / 60).toFixed(1)} min`;
  return `${(value / 3600).toFixed(1)} h`;
}

export function octets(value) {
  if (!known(value)) return NOTHING;
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]])
    if (value >= size) return `${(value / size).toFixed(value >= 100 * size ? 0 : 2)} ${unit}`;
  return `${value} B`;
}

// Never less than it is: rounded up to four digits.
export function epsilon(value) {
  if (!known(value)) return NOTHING;
  if (value === 0) return "0";
  if (value >= 1000) return count(Math.ceil(value));
  const unit = 10 ** (Math.floor(Math.log10(value)) - 3);
  const whole = value / unit;
  const up = Math.abs(whole - Math.round(whole)) < 1e-9 ? Math.round(whole) : Math.ceil(whole);
  return String(Number((up * unit).toPrecision(4)));
}

export const chance = (value) => (value < 0.001 ? value.toExponential() : String(value));

export const clockTime = (posix) => new Date(1000 * posix).toLocaleTimeString();

export const fingerprint = (hex) => hex.match(/.{1,8}/g).join(" ");

// Of one member of all rounds.
export const total = (list, member) => list.reduce((sum, round) => sum + round[member], 0);

// One number if all clients agree, else the middle one and how far they are apart.
export function accuracy(round) {
  if (!round || round.accuracy === null) return NOTHING;
  if (round.accuracy_low === round.accuracy_high) return percent(round.accuracy);
  return `${percent(round.accuracy)} (${percent(round.accuracy_low)} to ${percent(round.accuracy_high)})`;
}
