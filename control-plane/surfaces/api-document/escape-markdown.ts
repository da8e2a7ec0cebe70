/** Keys of a schema whose values are data of the API, not text about it. */
const DATA = new Set(["default", "enum", "const", "example", "examples"]);

/**
 * An OpenAPI document whose descriptions render as they were written: OpenAPI reads `description` as CommonMark, where
 * `<host>` is HTML and `*` begins emphasis. Nothing but `description` texts is changed.
 */
export function escapeDescriptions(document: unknown): unknown {
  if (Array.isArray(document)) return document.map(escapeDescriptions);
  if (typeof document !== "object" || document === null) return document;
  return Object.fromEntries(
    Object.entries(document).map(([key, value]) => {
      // A property named like one of these words has a schema, no list or text.
      if (DATA.has(key) && !isSchema(value)) return [key, value];
      return [
        key,
        key === "description" && typeof value === "string" ? escapeMarkdown(value) : escapeDescriptions(value),
      ];
    }),
  );
}

function isSchema(value: unknown): boolean {
  return typeof value === "object" && value !== null && ("type" in value || "anyOf" in value || "$ref" in value);
}

/**
 * Text as CommonMark that renders to itself. Code spans stay as they are: backslashes mean nothing inside (CommonMark
 * 0.31, section 6.1). An underscore between two letters or digits is left alone, as it begins no emphasis (section 6.2).
 */
export function escapeMarkdown(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part
            .replaceAll(/[\\<>*[\]|~]|&(?=#?\w+;)/g, String.raw`\$&`)
            .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, String.raw`\_`),
    )
    .join("")
    .replace(/^(\s*)([-+#]|\d+[.)])(?=\s)/, String.raw`$1\$2`)
    .replace(/^(\s*)\\(\d+)([.)])/, String.raw`$1$2\$3`);
}
