module carteiro-audit

go 1.24.0

require golang.org/x/mod v0.28.0
