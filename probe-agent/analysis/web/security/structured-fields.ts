const BARE_ITEM = String.raw`(?:-?\d{1,15}(?:\.\d{1,3})?|"(?:[ !#-\[\]-~]|\\["\\])*"|[A-Za-z*][!#$%&'*+.^_\`|~0-9A-Za-z:/-]*|:[A-Za-z0-9+/=]*:|\?[01])`;
const TOKEN_ITEM = new RegExp(
  String.raw`^ *([A-Za-z*][!#$%&'*+.^_\`|~0-9A-Za-z:/-]*)(?:; *[a-z*][a-z0-9_.*-]*(?:=${BARE_ITEM})?)* *$`,
);

const TOKEN = String.raw`[A-Za-z*][!#$%&'*+.^_\`|~0-9A-Za-z:/-]{0,200}`;
const STRING = String.raw`"(?:[ !#-\[\]-~]|\\["\\]){0,2000}"`;
const PARAMETERS = String.raw`(?:; {0,9}[a-z*][a-z0-9_.*-]{0,60}(?:=(?:${TOKEN}|${STRING}|-?\d{1,15}|\?[01]))?){0,20}`;
const ITEM = String.raw`(?:${TOKEN}|${STRING}|\?[01]|-?\d{1,15})${PARAMETERS}`;
const LIST = String.raw`\( {0,99}(?:${ITEM}(?: {1,99}${ITEM}){0,200})? {0,99}\)${PARAMETERS}`;
const MEMBER = new RegExp(
  String.raw`[ \t]*[a-z*][a-z0-9_.*-]{0,100}(?:=(?:${LIST}|${ITEM})|${PARAMETERS})[ \t]*(?:,|$)`,
  "y",
);

/** Maximum length in characters. A longer header counts as invalid. */
const MAX_CHARACTERS = 16_384;

/** Parses a structured field item that is a token (RFC 9651 section 4.2.3), without its parameters; else null. */
export function structuredToken(value: string): string | null {
  return TOKEN_ITEM.exec(value.slice(0, 1024))?.[1] ?? null;
}

/** Reports whether a value is a structured field dictionary (RFC 9651 section 3.2) with at least one feature. */
export function isPermissionsPolicy(value: string): boolean {
  if (value.trim() === "" || value.length > MAX_CHARACTERS || value.trimEnd().endsWith(",")) return false;
  for (let at = 0; at < value.length; at = MEMBER.lastIndex) {
    MEMBER.lastIndex = at;
    if (!MEMBER.test(value)) return false;
  }
  return true;
}
