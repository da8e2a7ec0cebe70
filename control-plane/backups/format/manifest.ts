import { Type, type Static } from "typebox";
import { Compile } from "typebox/compile";
import type { ByteReader } from "#control-plane/backups/format/byte-reader.ts";
import { readTarHeader, skipPadding } from "#control-plane/backups/format/tar.ts";
import { BackupProblem, damaged, notBackup, truncated } from "#control-plane/backups/problem.ts";

/** The format that this release writes. */
export const FORMAT = 1;
/** Name of the first file of the archive. */
export const MANIFEST_NAME = "manifest.json";
/** A manifest has about 20 kB, and 40 bytes for each day of checks. */
const MOST_BYTES = 4 * 2 ** 20;

const COUNT = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const MANIFEST = Type.Object({
  format: Type.Literal(FORMAT),
  /** The release that wrote it. */
  version: Type.String({ maxLength: 200 }),
  /** Number of the newest migration of the database. */
  migration: Type.Integer({ minimum: 1, maximum: 9_999 }),
  /** Id of the installation (core/secrets/installation.ts); null: the service had never started. */
  installation: Type.Union([Type.String({ maxLength: 100 }), Type.Null()]),
  created_at: Type.String({ maxLength: 40 }),
  /** Value by which the master key is recognised, in base64; null: the service had never started. */
  master_key_check: Type.Union([Type.String({ maxLength: 100 }), Type.Null()]),
  /** The newest number of each sequence that has given one. Ids of rows that were deleted must not come again. */
  sequences: Type.Record(Type.String({ maxLength: 100 }), COUNT),
  /** In the order of the archive. */
  tables: Type.Array(
    Type.Object({
      name: Type.String({ maxLength: 63 }),
      rows: COUNT,
      bytes: COUNT,
      sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
      /** Of a table that is partitioned by days: those that have a partition. */
      days: Type.Optional(Type.Array(Type.String({ pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" }), { maxItems: 20_000 })),
    }),
    { maxItems: 1_000 },
  ),
});

const CHECK = Compile(MANIFEST);

/** What a backup contains. */
export type Manifest = Static<typeof MANIFEST>;
/** One table of a backup. */
export type ManifestTable = Manifest["tables"][number];

/** Name of the file of a table. */
export function fileOf({ name }: Pick<ManifestTable, "name">): string {
  return `tables/${name}.copy`;
}

/** Reads the manifest, the first file of an archive. Throws a BackupProblem if there is none that this release knows. */
export async function readManifest(reader: ByteReader): Promise<Manifest> {
  const entry = await readTarHeader(reader);
  if (entry?.name !== MANIFEST_NAME) throw notBackup(`its first file is not ${MANIFEST_NAME}`);
  if (!(entry.size <= MOST_BYTES)) throw damaged(`${MANIFEST_NAME} is too large`);
  const content = await reader.read(entry.size);
  if (content.length < entry.size) throw truncated();
  await skipPadding(reader, entry.size);
  const manifest = parse(content.toString("utf8"));
  const { format } = manifest as { readonly format?: unknown };
  if (typeof format === "number" && format > FORMAT) {
    throw new BackupProblem(`the backup has format ${format}, and this release reads ${FORMAT}: update Vantage`);
  }
  if (!CHECK.Check(manifest)) throw notBackup(`its ${MANIFEST_NAME} has other fields`);
  return manifest;
}

function parse(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Not JSON.
  }
  throw notBackup(`its ${MANIFEST_NAME} is not JSON`);
}
