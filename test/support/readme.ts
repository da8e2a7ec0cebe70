import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DOCUMENTS } from "#test/laws/documents.ts";
import { ROOT } from "#test/laws/source-files.ts";

/** Instructions of documents. */
interface Instructions {
  /** Shell commands from sh blocks and running text. Continued lines are joined and comments removed. */
  readonly commands: readonly string[];
  /**
   * Requests and addresses in running text, verbatim except for "GET ": "/docs", "POST /mcp", "127.0.0.1:9464/metrics".
   */
  readonly requests: readonly string[];
  /** Blocks in other languages, by language. */
  readonly blocks: readonly { readonly language: string; readonly text: string }[];
}

const FENCED = /^```(\w*)\n([\s\S]*?)^```$/gm;
const COMMAND = /^(?:[A-Z_]+=\S+ )?(?:npm|node|curl|git|sh|sudo|ln|mkdir|claude|docker|psql|deploy\/vantage) /;
const REQUEST =
  /^(?:(?:GET|POST|PUT|PATCH|DELETE) \/|(?:127\.0\.0\.1:\d+)?\/(?:docs|openapi|healthz|readyz|metrics|s\/))/;

/** Reads all documents, without the table of tools, which is generated from the contracts. */
export function readInstructions(): Instructions {
  const text = DOCUMENTS.map((path) => readFileSync(join(ROOT, path), "utf8"))
    .join("\n")
    .replace(/<!-- tools:[\s\S]*<!-- \/tools -->/, "");
  const fenced = [...text.matchAll(FENCED)].map(([, language = "", block = ""]) => ({ language, text: block }));
  const inline = [...text.replaceAll(FENCED, "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) =>
    code.replaceAll("\n", " "),
  );
  return {
    commands: [
      ...fenced.filter(({ language }) => language === "sh").flatMap((block) => commandsOf(block.text)),
      ...inline.filter((code) => COMMAND.test(code)),
    ],
    requests: inline.filter((code) => REQUEST.test(code)).map((code) => code.replace(/^GET /, "")),
    blocks: fenced.filter(({ language }) => language !== "sh"),
  };
}

function commandsOf(block: string): string[] {
  const lines = block.replaceAll(/\\\n\s*/g, "").split("\n");
  return lines.map((line) => line.replace(/\s+# .*$|^#.*$/, "").trim()).filter((line) => line !== "");
}

/** Returns the endpoint and the header with `key` from the line for MCP clients. */
export function readMcpLine(key: string): { readonly url: string; readonly header: string } {
  const line = readInstructions().commands.find((command) => command.startsWith("claude mcp add ")) ?? "false";
  // The shell splits the line into words; the program is not run.
  const script = `claude() { printf '%s\\n' "$@"; }; ${line}`;
  const words = execFileSync("sh", ["-c", script], { env: { KEY: key }, encoding: "utf8" }).split("\n");
  return {
    url: words.find((word) => word.startsWith("http://")) ?? "",
    header: words[words.indexOf("--header") + 1] ?? "",
  };
}
