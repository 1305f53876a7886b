import pytest

import benchmint_cases
import benchmint_service

# The status of a session that met no service.
NOT_READY = 7


@pytest.fixture(scope="session")
def service():
    """Waits for the service. Where it does not answer, no test can say more than that."""
    why = benchmint_service.wait_until_answers()
    if why:
        pytest.exit("the service does not get ready: " + why, returncode=NOT_READY)
    benchmint_service.wait_until_settled(benchmint_cases.load()["ready"])


@pytest.fixture(scope="session")
def scenarios(service):
    """The running scenario of each group."""
    return {group["name"]: benchmint_cases.Scenario(group) for group in benchmint_cases.load()["groups"]}
