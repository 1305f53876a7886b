package httpsuite

import "github.com/benchmint/benchmint/schemas"

// ConnectID is the ID of the test that asks whether the service answers; its unit is Connect.
const ConnectID = connectFile + "::test_connect"

// CasesPath is where the cases of a task lie in its tree.
const CasesPath = schemas.SuiteFolder + "/" + CasesFile
