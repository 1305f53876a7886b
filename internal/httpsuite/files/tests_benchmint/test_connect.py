"""Does the service start, listen and answer?

SERVICE_URL says where it is (default http://127.0.0.1:8080).
"""

import pytest

import benchmint_cases
import benchmint_service


def test_connect():
    why = benchmint_service.wait_until_answers() or benchmint_service.wait_until_settled(benchmint_cases.load()["ready"])
    if why:
        pytest.fail("the service does not get ready: " + why, pytrace=False)
