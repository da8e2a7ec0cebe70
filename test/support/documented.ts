import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "#test/support/free-port.ts";

const PRISM = fileURLToPath(new URL("../peers/programs/node_modules/.bin/prism", import.meta.url));

/** A proxy that returns an error if an answer differs from the OpenAPI document. */
export interface DocumentedProxy {
  readonly url: string;
  /** Reports whether the document has this call. The proxy itself answers other calls and calls without a key. */
  covers(call: { readonly method: string; readonly path: string; readonly hasKey: boolean }): boolean;
  close(): void;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly security?: readonly object[] }>>>>;
}

/** Starts prism in front of a control plane, with the document that this control plane publishes. */
export async function startDocumentedProxy(target: string): Promise<DocumentedProxy> {
  const folder = mkdtempSync(join(tmpdir(), "vantage-prism-"));
  const file = join(folder, "openapi.json");
  const text = await (await fetch(`${target}/openapi.json`)).text();
  writeFileSync(file, text);
  const { paths } = JSON.parse(text) as Document;
  const port = await freePort();
  const words = ["proxy", file, target, "--errors", "--validate-request=false", "-p", String(port), "-h", "127.0.0.1"];
  const child = spawn(process.execPath, [PRISM, ...words], { stdio: ["ignore", "pipe", "pipe"] });
  await new Promise<void>((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += String(chunk);
      if (said.includes("is listening")) resolve();
    });
    child.once("exit", () => reject(new Error(`prism ended: ${said}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    covers({ method, path, hasKey }) {
      const operation = paths[path.split("?", 1)[0] ?? ""]?.[method.toLowerCase()];
      return operation !== undefined && (hasKey || (operation.security ?? []).length === 0);
    },
    close() {
      child.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
