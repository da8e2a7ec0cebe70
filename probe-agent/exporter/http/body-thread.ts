// Program of the threads that match large bodies. It has no access to files or the network.
import { parentPort } from "node:worker_threads";
import { compileExpression, type Expression } from "#shared/blackbox/expression.ts";
import { matchBody, type BodyOrder } from "#probe-agent/exporter/http/body-rules.ts";

/** Compiled expressions by their sources: a thread serves the modules of one file. */
const compiled = new Map<string, Expression>();
const MOST_COMPILED = 1000;

function expressionOf(source: string): Expression {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const made = compileExpression(source);
  // The reader of the file has compiled it before.
  if ("fault" in made) throw new Error(made.fault);
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  compiled.set(source, made);
  return made;
}

parentPort?.on("message", ({ body, forbidden, wanted }: BodyOrder) => {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  const verdict = matchBody(text, forbidden.map(expressionOf), wanted.map(expressionOf));
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(verdict);
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage("ready");
