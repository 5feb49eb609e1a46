"""Compares files with a JSON schema: schema_check.py LIST

LIST is a JSON file {"schema": …, "files": [{"name": …, "value": …}]}. Prints one line for each file that does not
fit, `name: /place: message`; the exit status is 2 if the schema itself is not one of draft 7.
"""

import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    task = json.load(file)
try:
    jsonschema.Draft7Validator.check_schema(task["schema"])
except jsonschema.SchemaError as error:
    print(f"the schema: {error.message}")
    sys.exit(2)
validator = jsonschema.Draft7Validator(task["schema"])


def deepest(error):
    """The errors of the alternatives of `anyOf`, if there are any, say more than that none fits."""
    return [inner for part in error.context for inner in deepest(part)] or [error]


for file in task["files"]:
    for error in validator.iter_errors(file["value"]):
        for inner in [error, *deepest(error)]:
            print(f"{file['name']}: /{'/'.join(map(str, inner.absolute_path))}: {inner.message}")
