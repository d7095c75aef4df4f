"""Bodies of protobuf for Schemathesis, which knows no such type: any bytes."""

import schemathesis
from hypothesis import strategies

schemathesis.openapi.media_type("application/x-protobuf", strategies.binary(max_size=1_000))
