import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { digestOf, writeArchive, type Archive } from "#shared/process/archive.ts";

/** File of a package that says what the agent's archive of the same release consists of. */
export const BUNDLE_FILE = "lib/agent.json";
/** Folder of a package with the files of the archive that the package has not, or otherwise. */
export const AGENT_FILES = "lib/agent";

/** The agent's archive of a release, as BUNDLE_FILE describes it. */
export interface Bundle extends Omit<Archive, "sourceOf"> {
  /** Digest of the archive, in hexadecimal. */
  readonly sha256: string;
}

/** The archive that this process gives to hosts of agents. */
export interface AgentBundle {
  readonly version: string;
  /** Name of the file. */
  readonly file: string;
  readonly sha256: string;
  /** Returns where the archive is. The first call makes it, in some seconds; calls meanwhile wait for the same. */
  open(): Promise<OpenedBundle>;
}

/** The archive on the disk, or why there is none. */
type OpenedBundle =
  | { readonly ok: true; readonly path: string; readonly size: number }
  | { readonly ok: false; readonly line: string };

/**
 * Finds the agent's archive of the package in `root`; null: this is a clone, which has none. A package has all files of the
 * archive already, so it does not carry the archive too: it is made in the data directory when it is first asked for, with
 * the digest that the release has. Compression runs in a thread of Node's pool.
 */
export function findBundle(root: string, dataDir: string): AgentBundle | null {
  if (!existsSync(join(root, BUNDLE_FILE))) return null;
  const bundle = JSON.parse(readFileSync(join(root, BUNDLE_FILE), "utf8")) as Bundle;
  const { name, sha256 } = bundle;
  const file = `${name}-linux-${process.arch}.tar.gz`;
  const folder = join(dataDir, "install");
  const path = join(folder, file);
  let opening: Promise<OpenedBundle> | null = null;

  async function make(): Promise<OpenedBundle> {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const other of readdirSync(folder)) if (other !== file) rmSync(join(folder, other), { force: true });
    // Replicas of one data directory make it side by side.
    const unfinished = `${path}.${process.pid}`;
    const sourceOf = (source: string) => {
      const own = join(root, AGENT_FILES, source);
      return existsSync(own) ? own : join(root, source);
    };
    await writeArchive({ ...bundle, sourceOf }, unfinished);
    if ((await digestOf(unfinished)) !== sha256) {
      rmSync(unfinished);
      return { ok: false, line: "files of this installation are not those of the release: install it again" };
    }
    renameSync(unfinished, path);
    return { ok: true, path, size: (await stat(path)).size };
  }

  async function find(): Promise<OpenedBundle> {
    let opened: OpenedBundle;
    try {
      const isThere = existsSync(path) && (await digestOf(path)) === sha256;
      opened = isThere ? { ok: true, path, size: (await stat(path)).size } : await make();
    } catch (error) {
      opened = { ok: false, line: error instanceof Error ? error.message : String(error) };
    }
    // What failed is tried again for the next one who asks.
    if (!opened.ok) opening = null;
    return opened;
  }

  return {
    version: name.slice("vantage-agent-".length),
    file,
    sha256,
    async open() {
      opening ??= find();
      const opened = await opening;
      if (!opened.ok || existsSync(opened.path)) return opened;
      // It was removed.
      opening = null;
      return await (opening ??= find());
    },
  };
}
