"""Rounds: `rules` decide what happens next, `scheduler` has it carried out, `tasks` says what a
client is asked for, `results` what may be told of a round."""
