import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes files and returns their paths by name without an ending. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): Record<string, string> {
  mkdirSync(folder, { recursive: true });
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => {
      const path = join(folder, name);
      writeFileSync(path, text);
      return [name.replace(/\..*$/, ""), path];
    }),
  );
}

/** How a server becomes a place. */
export type At = (server: { readonly port: number; close(): unknown }, host?: string) => string;
