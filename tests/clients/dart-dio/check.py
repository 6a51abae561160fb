"""Checks the Dart client that openapi-generator's dart-dio makes, where no Dart SDK is at hand: no generated file names a file or
a type that was not generated.

usage: check.py FOLDER     FOLDER is the generated package

For every file: what it imports, exports and includes is there, or is a package that pubspec.yaml depends on; every type that it names
is declared in it or in a file that it imports, or belongs to Dart or to one of those packages (PROVIDED lists them). What
build_runner adds to a value type `X` (`x.g.dart` with `XBuilder` and `_$X`) counts as declared with it.
"""

import pathlib
import re
import sys

PACKAGE = "openapi"
# The types of Dart and of the packages that the client is built on.
PROVIDED = set(
    """
    bool double int num Object String Symbol Type DateTime Duration Iterable List Map Set Uri Exception Error StackTrace
    ArgumentError FormatException StateError Function Comparable Future FutureOr Stream Uint8List Never Null override
    BuiltList BuiltMap BuiltSet ListBuilder MapBuilder SetBuilder
    Built Builder BuiltValue BuiltValueEnum BuiltValueEnumConst BuiltValueField BuiltValueHook BuiltValueSerializer EnumClass
    JsonObject FullType PrimitiveSerializer Serializer Serializers SerializersBuilder StructuredSerializer SerializersFor
    StandardJsonPlugin Iso8601DateTimeSerializer
    BaseOptions CancelToken Dio DioException DioExceptionType DioError FormData Headers Interceptor InterceptorsWrapper
    ListFormat ListParam MultipartFile Options ProgressCallback RequestInterceptorHandler RequestOptions Response ResponseType
    ValidateStatus
    AnyOf AnyOf1 AnyOf2 AnyOf3 OneOf OneOf1 OneOf2 OneOf3 OneOfSerializer AnyOfSerializer
    """.split()
)
IMPORT = re.compile(r"""^\s*(import|export|part(?:\s+of)?)\s+['"]([^'"]+)['"]""", re.MULTILINE)
DECLARED = re.compile(r"\b(?:class|enum|mixin|typedef|extension)\s+([A-Z]\w*)")
# The values of an enumeration are members, and some are spelled as types are.
MEMBER = re.compile(r"\bstatic const \w+ ([A-Z]\w*) =")
TYPE = re.compile(r"(?<![\w$.])([A-Z]\w*)")
STRING = re.compile(r"r?'''.*?'''|r?\"\"\".*?\"\"\"|r?'(?:\\.|[^'\\\n])*'|r?\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class Source:
    def __init__(self, file):
        text = file.read_text()
        self.file = file
        # A string may hold what looks like a comment, so both are looked for at once.
        kept = re.compile(f"({STRING.pattern})|({COMMENT.pattern})", re.DOTALL)
        self.links = IMPORT.findall(kept.sub(lambda found: found.group(1) or "", text))
        self.code = kept.sub(" ", text)
        self.declared = set(DECLARED.findall(self.code))
        self.members = set(MEMBER.findall(self.code))


def main(folder):
    sources = {file: Source(file) for part in ("lib", "test") for file in sorted((folder / part).rglob("*.dart"))}
    library = folder / "lib"
    pubspec = (folder / "pubspec.yaml").read_text()
    depended = set(re.findall(r"^  (\w+):", pubspec.split("dependencies:", 1)[1], re.MULTILINE))
    faults = []

    def target(source, link):
        """The generated file that a link leads to; None if it leads out of the client."""
        if link.startswith("dart:"):
            return None
        if link.startswith(f"package:{PACKAGE}/"):
            return library / link.removeprefix(f"package:{PACKAGE}/")
        if link.startswith("package:"):
            if link.removeprefix("package:").split("/")[0] not in depended:
                faults.append(f"{source.file}: {link} is no dependency")
            return None
        return source.file.parent / link

    def visible(source, seen, kinds):
        """The names that a file declares, or brings by links of these kinds."""
        if source.file in seen:
            return set()
        seen.add(source.file)
        names = set(source.declared)
        for kind, link in source.links:
            found = sources.get(target(source, link)) if kind in kinds and not link.endswith(".g.dart") else None
            if found:
                names |= visible(found, seen, ("export", "part"))
        return names

    for source in sources.values():
        for kind, link in source.links:
            file = target(source, link)
            is_built = kind == "part" and link == f"{source.file.stem}.g.dart"
            if file is not None and file not in sources and not is_built:
                faults.append(f"{source.file}: {link} was not generated")
        known = visible(source, set(), ("import", "export", "part")) | PROVIDED | source.members
        # The parameters of generic declarations.
        known |= {name for group in re.findall(r"\w<([\w\s,]+)>\s*\(", source.code) for name in re.findall(r"\b[A-Z]\b", group)}
        for name in sorted(set(TYPE.findall(source.code)) - known):
            if name.removesuffix("Builder") not in known:
                faults.append(f"{source.file}: {name} is declared nowhere that this file imports")
    models = sum(1 for file in sources if "model" in file.parts)
    if faults or models < 100:
        print("\n".join(faults[:40]))
        sys.exit(f"{len(faults)} faults in {len(sources)} files, {models} of them models")
    print(f"{len(sources)} files, {models} of them models: nothing refers to what was not generated")


main(pathlib.Path(sys.argv[1]))
