"""Prometheus and Grafana ask for what the servers really have: a typo would be an empty panel, or
an alert that never comes."""

import asyncio
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from fedperm.services import SERVICES
from tests.deployment.exposition import Exposition, exposition
from tests.deployment.promql import labels_of, mistakes, names

ROOT = Path(__file__).parents[2]
MONITORING = ROOT / "deploy" / "monitoring"
PROMETHEUS = yaml.safe_load((MONITORING / "prometheus.yml").read_text())
ALERTS = [
    rule
    for group in yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]
DASHBOARD = json.loads((MONITORING / "grafana/dashboards/fedperm.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
PROVISIONING = MONITORING / "grafana/provisioning"


@pytest.fixture(scope="module")
def exposed() -> Exposition:
    return asyncio.run(exposition())


def named(panel: dict) -> str:
    return panel["title"]


@pytest.mark.parametrize("panel", PANELS, ids=named)
def test_a_panel_asks_for_what_there_is(panel, exposed):
    assert panel["targets"]
    for target in panel["targets"]:
        assert mistakes(target["expr"], exposed) == []
        shown = set(re.findall(r"{{\s*(\w+)\s*}}", target["legendFormat"]))
        assert shown <= labels_of(target["expr"], exposed)


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_watches_what_there_is_and_says_what_to_do(rule, exposed):
    assert mistakes(rule["expr"], exposed) == []
    assert rule["labels"]["severity"] in {"critical", "warning"}
    told = rule["annotations"]
    assert told.keys() == {"summary", "description"}
    shown = set(re.findall(r"\$labels\.(\w+)", told["summary"] + told["description"]))
    assert shown <= labels_of(rule["expr"], exposed)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("sum(rate(fedperm_roundz_total[1m]))", "no series fedperm_roundz_total"),
        ("sum by (stat) (fedperm_rounds_total)", "no label stat at fedperm_rounds_total"),
        ('up and on (state) fedperm_rounds_total{state="opened"}', "no label state at up"),
        ('fedperm_rounds_total{status="opened"}', "no label status"),
        ('fedperm_rounds_total{state="open"}', "no state is open"),
        ('fedperm_http_requests_total{route!~".*/tasks"}', "no route is .*/tasks"),
        ('fedperm_http_requests_total{status=~"6.."}', "no status is 6.."),
        ('up{job="keyservers"}', "no job is keyservers"),
        ("rate(fedperm_rounds_total)", "expected type matrix"),
        ("sum(fedperm_rounds_total", "parenthesis"),
    ],
)
def test_a_typo_is_found(expression, said, exposed):
    (found,) = mistakes(expression, exposed)
    assert said in found


def test_every_metric_of_an_expression_is_found():
    expression = 'sum by (a) (rate(b{c="d"}[$__rate_interval])) / on (e) f offset 5m or max(g)'
    assert names(expression) == ["b", "f", "g"]


def test_the_dashboard_shows_all_that_the_servers_count(exposed):
    """All of ours, and of the process what is worth a look."""
    asked = {name for p in PANELS for t in p["targets"] for name in names(t["expr"])}
    ours = {name for name in exposed.series if name.startswith("fedperm_")}
    counted = {_family(name) for name in ours if not name.endswith("_created")}
    assert counted - {_family(name) for name in asked} == set()
    assert {"up", "process_cpu_seconds_total", "process_resident_memory_bytes"} <= asked


def _family(name: str) -> str:
    """A histogram is three series."""
    return re.sub(r"_(bucket|sum|count)$", "", name)


def test_panels_lie_side_by_side_and_have_numbers_of_their_own():
    places = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for at in [panel["gridPos"]]
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(set(places)) == len(places)
    assert max(x for x, _ in places) < 24  # Grafana's columns
    numbers = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(numbers)) == len(numbers)


def test_all_servers_are_scraped_over_tls_by_the_names_of_their_certificates():
    jobs = {job["job_name"]: job for job in PROMETHEUS["scrape_configs"]}
    for name, service in SERVICES.items():
        job = jobs.pop(name)
        assert job["scheme"] == "https"
        assert job["tls_config"] == {"ca_file": "/etc/fedperm/ca.pem"}
        assert job["static_configs"] == [{"targets": [f"{name}:{service.port}"]}]
        assert "metrics_path" not in job  # /metrics
    assert jobs == {}
    assert PROMETHEUS["global"]["scrape_interval"] == "5s"
    assert PROMETHEUS["rule_files"] == ["/etc/prometheus/alerts.yml"]


def test_grafana_finds_prometheus_and_the_dashboard():
    sources = yaml.safe_load((PROVISIONING / "datasources/prometheus.yml").read_text())
    (source,) = sources["datasources"]
    assert (source["type"], source["url"]) == ("prometheus", "http://prometheus:9090")
    wanted = {"type": "prometheus", "uid": source["uid"]}
    for panel in PANELS:
        assert panel["datasource"] == wanted
        assert all(target["datasource"] == wanted for target in panel["targets"])
    (provider,) = yaml.safe_load((PROVISIONING / "dashboards/fedperm.yml").read_text())["providers"]
    assert provider["options"]["path"] == "/etc/grafana/dashboards"


def test_the_containers_find_these_files_where_they_look_for_them():
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    mounted = dict(
        volume.split(":")[:2]
        for name in ("prometheus", "grafana")
        for volume in services[name]["volumes"]
        if volume.startswith("./")
    )
    assert mounted == {
        "./deploy/monitoring/prometheus.yml": "/etc/prometheus/prometheus.yml",
        "./deploy/monitoring/alerts.yml": "/etc/prometheus/alerts.yml",
        "./deploy/monitoring/grafana/provisioning": "/etc/grafana/provisioning",
        "./deploy/monitoring/grafana/dashboards": "/etc/grafana/dashboards",
    }
    assert all((ROOT / source).exists() for source in mounted)


@pytest.fixture
def promtool():
    path = shutil.which("promtool")
    if path is None:
        pytest.skip("promtool is not installed (on Debian: apt-get install prometheus)")

    def run(*arguments: object) -> None:
        command = [path, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    return run


def test_prometheus_takes_the_configuration(promtool, tmp_path):
    """At the places where the container has them."""
    text = (MONITORING / "prometheus.yml").read_text()
    (tmp_path / "ca.pem").touch()
    text = text.replace("/etc/fedperm", str(tmp_path)).replace("/etc/prometheus", str(MONITORING))
    (tmp_path / "prometheus.yml").write_text(text)
    promtool("check", "config", tmp_path / "prometheus.yml")


def test_alerts_come_when_they_should_and_not_otherwise(promtool):
    promtool("test", "rules", Path(__file__).with_name("alerts_test.yml"))


def test_prometheus_takes_the_dashboards_expressions(promtool, tmp_path):
    """As rules: it has no other way to look at an expression alone."""
    expressions = {t["expr"] for panel in PANELS for t in panel["targets"]}
    rules = [
        {"record": f"panel:{i}", "expr": expression.replace("$__rate_interval", "20s")}
        for i, expression in enumerate(sorted(expressions))
    ]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    promtool("check", "rules", file)
