import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compileRules } from "#probe-agent/analysis/page/tech/compile.ts";
import type { Pattern } from "#probe-agent/analysis/page/tech/pattern.ts";
import { openTechRules } from "#probe-agent/data/tech-rules.ts";
import { parseExpressions, type Call, type Expression } from "#test/laws/expressions/parse.ts";
import { ROOT } from "#test/laws/source-files.ts";

/** Folders of the product. */
export const ROOMS = ["control-plane", "probe-agent", "shared", "deploy"];

/** Every expression of the product, and the calls of RegExp that are made while it runs. */
export interface Gathered {
  readonly expressions: readonly Expression[];
  readonly runtimeCalls: readonly string[];
}

/** Reads all files of the product and its technology rules. */
export async function gatherExpressions(): Promise<Gathered> {
  const parsed = programs().map((path) => ({
    path,
    ...parseExpressions(path, readFileSync(join(ROOT, path), "utf8")),
  }));
  const loading = parsed.filter(({ calls }) => calls.some(({ insideFunction }) => !insideFunction));
  return {
    expressions: [
      ...parsed.flatMap(({ expressions }) => expressions),
      ...(await expressionsOfLoading(loading)),
      ...ruleExpressions(null),
    ],
    runtimeCalls: parsed.flatMap(({ calls }) => calls.filter((one) => one.insideFunction).map(({ place }) => place)),
  };
}

function programs(): string[] {
  return ROOMS.flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(?:ts|mjs|js)$/.test(name) && !name.endsWith(".d.ts"))
      .map((name) => join(room, name)),
  );
}

/** Loads the modules that call RegExp at their top and notes what they make. They must not be loaded before. */
async function expressionsOfLoading(
  modules: readonly { readonly path: string; readonly calls: readonly Call[] }[],
): Promise<Expression[]> {
  const found: Expression[] = [];
  const Original = globalThis.RegExp;
  for (const { path, calls } of modules) {
    const made: Expression[] = [];
    globalThis.RegExp = new Proxy(Original, {
      construct(target, [source, flags = ""]: [string | RegExp, string?], newTarget) {
        made.push({ source: String(source), flags, place: path });
        return Reflect.construct(target, [source, flags], newTarget) as RegExp;
      },
    });
    try {
      await import(join(ROOT, path));
    } finally {
      globalThis.RegExp = Original;
    }
    const expected = calls.filter(({ insideFunction }) => !insideFunction).length;
    if (made.length < expected) throw new Error(`${path} has ${expected} calls of RegExp and made ${made.length}`);
    found.push(...made);
  }
  return found;
}

/** Returns the technology rules of a folder, null: the built-in ones, as the agent compiles them. */
export function ruleExpressions(folder: string | null): Expression[] {
  const opened = openTechRules(folder);
  if (!opened.ok) throw new Error(opened.line);
  return compileRules(opened.data).rules.flatMap(({ name, tests }) =>
    tests.flatMap(({ pattern: { regex } }: { readonly pattern: Pattern }) =>
      regex === null ? [] : [{ source: regex.source, flags: regex.flags, place: `technology rule "${name}"` }],
    ),
  );
}
