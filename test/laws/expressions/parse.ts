import { parseAst } from "vitest/node";

/** A regular expression as it is written in the product. */
export interface Expression {
  readonly source: string;
  readonly flags: string;
  /** File and line, e.g. "shared/contracts/outcome.ts:12". */
  readonly place: string;
}

/** Returns what two expressions have in common that match the same texts in the same way. */
export function keyOf({ source, flags }: Pick<Expression, "source" | "flags">): string {
  return JSON.stringify([flags.split("").toSorted().join(""), source]);
}

/** Content of one file: its expressions, and its calls of RegExp, whose expressions exist only at run time. */
export interface Parsed {
  readonly expressions: readonly Expression[];
  readonly calls: readonly Call[];
}

/** One call of RegExp. */
export interface Call {
  readonly place: string;
  /** It is made again and again, not once when the module is loaded. */
  readonly insideFunction: boolean;
}

type Tree = Readonly<Record<string, unknown>>;

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
/** Methods of a string that make an expression of the string they are given. */
const COMPILING = new Set(["match", "matchAll", "search"]);

/** Finds every expression of a file: literals, JSON Schema's `pattern`, and texts that a method compiles. */
export function parseExpressions(path: string, text: string): Parsed {
  const expressions: Expression[] = [];
  const calls: Call[] = [];
  const placeOf = (node: Tree): string => `${path}:${text.slice(0, Number(node["start"])).split("\n").length}`;
  const add = (node: Tree, source: unknown, flags: unknown): void => {
    if (typeof source === "string") expressions.push({ source, flags: String(flags), place: placeOf(node) });
  };
  const walk = (node: unknown, insideFunction: boolean): void => {
    if (Array.isArray(node)) for (const one of node) walk(one, insideFunction);
    if (!isTree(node)) return;
    const { type, regex, key, value, callee } = node;
    if (type === "Literal" && isTree(regex)) add(node, regex["pattern"], regex["flags"]);
    if (type === "Property" && nameOf(key) === "pattern") add(node, textOf(value), "u");
    if (type === "NewExpression" || type === "CallExpression") {
      const [argument] = node["arguments"] as readonly unknown[];
      if (nameOf(callee) === "RegExp") calls.push({ place: placeOf(node), insideFunction });
      if (isTree(callee) && COMPILING.has(nameOf(callee["property"]))) add(node, textOf(argument), "");
    }
    const within = insideFunction || FUNCTIONS.has(String(type));
    for (const [field, child] of Object.entries(node)) if (field !== "regex") walk(child, within);
  };
  walk(parseAst(text, { lang: "ts" }), false);
  return { expressions, calls };
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nameOf(node: unknown): string {
  const name = isTree(node) ? (node["name"] ?? node["value"]) : null;
  return typeof name === "string" ? name : "";
}

function textOf(node: unknown): string | null {
  if (!isTree(node)) return null;
  if (node["type"] === "Literal" && typeof node["value"] === "string") return node["value"];
  const [quasi] = node["type"] === "TemplateLiteral" ? (node["quasis"] as readonly Tree[]) : [];
  const cooked = isTree(quasi?.["value"]) ? quasi["value"]["cooked"] : null;
  return typeof cooked === "string" ? cooked : null;
}
