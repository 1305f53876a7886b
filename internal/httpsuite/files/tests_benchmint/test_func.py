"""Does the service answer as the original did?

Start the service with a fresh state, then run

    pytest tests_benchmint

SERVICE_URL says where it is (default http://127.0.0.1:8080). BENCHMINT_GROUP chooses one group of
endpoints. The cases of a group build on each other, so each run needs a fresh state.
"""

import os

import pytest

import benchmint_cases

GROUP = os.environ.get("BENCHMINT_GROUP", "")

TESTS = [
    pytest.param(group["name"], case, id="%s-%s" % (group["name"], case["id"]))
    for group in benchmint_cases.load()["groups"] or []
    if GROUP in ("", group["name"])
    for case in group["cases"] or []
    if case.get("expect")
]


@pytest.mark.parametrize("group, case", TESTS)
def test_case(group, case, scenarios):
    failure = scenarios[group].check(case)
    if failure:
        pytest.fail(failure, pytrace=False)
