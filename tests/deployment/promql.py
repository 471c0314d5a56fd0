"""What is wrong with a PromQL expression, given the series that there are."""

import re

import promql_parser
from promql_parser import AggregateExpr, BinaryExpr, Matcher, MatchOp, VectorSelector

from tests.deployment.exposition import Exposition, Values

INTERVAL = "$__rate_interval"
"""Grafana's: four scrapes, at least."""


def parsed(expression: str) -> promql_parser.Expr:
    return promql_parser.parse(expression.replace(INTERVAL, "20s"))


def nodes(tree: promql_parser.Expr, kind: type) -> list:
    found: list = []
    promql_parser.walk(tree, lambda node: found.append(node) if isinstance(node, kind) else None)
    return found


def names(expression: str) -> list[str]:
    return [selector.name for selector in nodes(parsed(expression), VectorSelector)]


def mistakes(expression: str, exposed: Exposition) -> list[str]:
    """Of syntax, names, labels and their values."""
    try:
        tree = parsed(expression)
    except ValueError as error:
        return [str(error)]
    found = []
    for selector in nodes(tree, VectorSelector):
        labels = exposed.series.get(selector.name)
        if labels is None:
            found.append(f"no series {selector.name}")
        else:
            found += [wrong for m in selector.matchers.matchers if (wrong := _mistake(m, labels))]
    for node in nodes(tree, (AggregateExpr, BinaryExpr)):
        found += _missing(_grouping(node), node, exposed)
    return found


def labels_of(expression: str, exposed: Exposition) -> set[str]:
    """Labels of the result: those that are grouped by, or else all."""
    tree = parsed(expression)
    groups = [set(node.modifier.labels) for node in nodes(tree, AggregateExpr) if node.modifier]
    selectors = nodes(tree, VectorSelector)
    return set().union(*(groups or (exposed.series[selector.name] for selector in selectors)))


def _mistake(matcher: Matcher, labels: Values) -> str | None:
    """Also one that excludes must name something that there is to exclude."""
    if matcher.name not in labels:
        return f"no label {matcher.name}"
    is_pattern = matcher.op in (MatchOp.Re, MatchOp.NotRe)
    pattern = matcher.value if is_pattern else re.escape(matcher.value)
    if not any(re.fullmatch(pattern, value) for value in labels[matcher.name]):
        return f"no {matcher.name} is {matcher.value}"
    return None


def _grouping(node: AggregateExpr | BinaryExpr) -> list[str]:
    modifier = node.modifier if isinstance(node, AggregateExpr) else _matching(node)
    return list(modifier.labels) if modifier else []


def _matching(node: BinaryExpr) -> promql_parser.LabelModifier | None:
    return node.modifier.matching if node.modifier else None


def _missing(wanted: list[str], tree: promql_parser.Expr, exposed: Exposition) -> list[str]:
    return [
        f"no label {label} at {selector.name}"
        for selector in nodes(tree, VectorSelector)
        for label in wanted
        if label not in exposed.series.get(selector.name, wanted)
    ]
