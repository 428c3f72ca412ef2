# SPDX-License-Identifier: Apache-2.0
"""A validator for the part of JSON Schema that docs/formats uses.

A keyword that it does not know is an error: nothing passes because it was not
looked at.
"""

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}
WORDS = {"$schema", "$defs", "title", "description"}


class Validator:
    """One schema with its definitions."""

    def __init__(self, schema):
        self.schema = schema

    def check(self, value):
        """What is wrong with a document, one line each."""
        return list(self.look(value, self.schema, "the document"))

    def look(self, value, schema, where):
        for keyword, argument in schema.items():
            if keyword in WORDS:
                continue
            name = keyword.replace("$", "")
            yield from getattr(self, f"look_{name}")(value, argument, where)

    def look_ref(self, value, name, where):
        yield from self.look(value, self.schema["$defs"][name.removeprefix("#/$defs/")], where)

    @staticmethod
    def look_type(value, name, where):
        if type(value) is not TYPES[name]:  # a bool is an int otherwise
            yield f"{where} is no {name}: {value!r}"

    @staticmethod
    def look_const(value, const, where):
        if value != const or type(value) is not type(const):
            yield f"{where} is {value!r}, not {const!r}"

    @staticmethod
    def look_required(value, names, where):
        if isinstance(value, dict):
            for name in names:
                if name not in value:
                    yield f"{where} has no {name}"

    def look_properties(self, value, members, where):
        if isinstance(value, dict):
            for name, schema in members.items():
                if name in value:
                    yield from self.look(value[name], schema, f"{where}.{name}")

    def look_items(self, value, schema, where):
        if isinstance(value, list):
            for number, item in enumerate(value):
                yield from self.look(item, schema, f"{where}[{number}]")

    def look_not(self, value, schema, where):
        if not list(self.look(value, schema, where)):
            yield f"{where} is what it may not be"

    def look_oneOf(self, value, schemas, where):  # noqa: N802 pylint: disable=invalid-name
        wrong = [list(self.look(value, schema, where)) for schema in schemas]
        fits = sum(not lines for lines in wrong)
        if fits != 1:
            nearest = min(wrong, key=len)
            yield f"{where} fits {fits} of {len(schemas)} forms: {'; '.join(nearest)}"
