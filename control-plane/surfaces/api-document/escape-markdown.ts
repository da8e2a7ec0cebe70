/** Keys of a schema whose values are data, not documentation. */
const DATA = new Set(["default", "enum", "const", "example", "examples"]);

/**
 * Escapes the descriptions of an OpenAPI document, so that they render unchanged: `description` is CommonMark, in which
 * `<host>` is HTML and `*` begins emphasis. Only `description` texts change.
 */
export function escapeDescriptions(document: unknown): unknown {
  if (Array.isArray(document)) return document.map(escapeDescriptions);
  if (typeof document !== "object" || document === null) return document;
  return Object.fromEntries(
    Object.entries(document).map(([key, value]) => {
      // A property with one of these names has a schema as value, not a list or a text.
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
 * Escapes a text so that CommonMark renders it unchanged. Code spans are kept: they have no backslash escapes
 * (CommonMark 0.31, section 6.1). An underscore between two letters or digits is kept: it begins no emphasis (section
 * 6.2).
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
