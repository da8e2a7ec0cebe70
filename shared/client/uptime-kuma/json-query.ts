import { toExactNumber, type ExactNumber } from "#shared/json/exact.ts";
import type { Context, Fields } from "#shared/client/uptime-kuma/context.ts";
import { quoteName, textOf, type Source } from "#shared/client/uptime-kuma/source.ts";
import { parseJsonPath } from "#shared/json-path/parse.ts";

/** Comparisons that a condition of the service has. Without one it is ==, as before release 2. */
const OPERATORS: ReadonlyMap<string, string> = new Map([
  ["", "equals"],
  ["==", "equals"],
  ["!=", "not_equals"],
  ["<", "less"],
  [">", "greater"],
]);

/** Maximum length of a compared text, in characters. */
const LONGEST_VALUE = 1_000;

/**
 * Maps the condition of a json-query (louislam/uptime-kuma, src/util.ts, evaluateJsonQuery): a JSONata expression whose
 * value is compared as text. Only paths of names and indexes have the same meaning in JSONPath.
 */
export function mapJsonQuery(monitor: Source, { leaveOut, change }: Context): Fields {
  const expression = textOf(monitor, "jsonPath");
  const operator = textOf(monitor, "jsonPathOperator");
  const op = OPERATORS.get(operator);
  const path = toJsonPath(expression);
  const text = textOf(monitor, "expectedValue");
  const value = op === "less" || op === "greater" ? readNumber(text) : readValue(text);
  const why =
    path === null
      ? `${quoteName(expression)} is more than a path of names and indexes`
      : op === undefined
        ? `there is no comparison ${quoteName(operator)}`
        : value === null
          ? `${quoteName(text)} is no number`
          : text.length > LONGEST_VALUE
            ? `the expected value has more than ${LONGEST_VALUE} characters`
            : null;
  if (why !== null) {
    leaveOut("json-query", `${why}: only the status is checked`);
    return {};
  }
  if (typeof value !== "string" && (op === "equals" || op === "not_equals")) {
    change(
      "expectedValue",
      `${text} is the ${typeof value === "boolean" ? "boolean" : "number"} ${text}, not the text "${text}"`,
    );
  }
  return { json: { path, op, value } };
}

/** Returns the value that a JSON value with this text most probably is. */
function readValue(text: string): string | ExactNumber | boolean {
  if (text === "true" || text === "false") return text === "true";
  return readNumber(text) ?? text;
}

/** Returns the number with exactly this text; null if there is none. */
function readNumber(text: string): ExactNumber | null {
  const number = toExactNumber(text);
  return typeof number === "number" && String(number) !== text ? null : number;
}

/** A step of a path, at its place: a name, a name in backticks, or an index. */
const STEP = /\.?(?:([A-Za-z_]\w*)|`([^`]+)`|\[(-?\d{1,9})\])/y;
/** Names that JSONata reads as values or operators. */
const WORDS: ReadonlySet<string> = new Set(["true", "false", "null", "and", "or", "in", "function"]);

/** Converts a JSONata expression that is a path to JSONPath (RFC 9535); null if it is more than that. */
function toJsonPath(expression: string): string | null {
  const text = expression.trim();
  let position = text.startsWith("$") ? 1 : 0;
  let path = "$";
  while (position < text.length) {
    STEP.lastIndex = position;
    const [whole = "", name, quoted, index] = STEP.exec(text) ?? [];
    const isFirst = position === 0;
    // Names follow a dot, but for the first one; $name is a variable, and .[ is another operator.
    const hasDot = whole.startsWith(".");
    const isNamed = name !== undefined || quoted !== undefined;
    if (whole === "" || WORDS.has(name ?? "") || (isNamed ? hasDot === isFirst : hasDot)) return null;
    path += name === undefined ? `[${index ?? quote(quoted ?? "")}]` : `.${name}`;
    position += whole.length;
  }
  return parseJsonPath(path).ok ? path : null;
}

function quote(name: string): string {
  return `'${name.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
