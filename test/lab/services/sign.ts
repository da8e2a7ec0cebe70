import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { LAB_ENVIRONMENT } from "#test/lab/namespaces.ts";

const run = promisify(execFile);
const DAY_S = 86_400;

/** The only key of a zone, which signs both its keys and its records. */
export interface ZoneKey {
  /** Path without extension. */
  readonly file: string;
  /** DS record in zone-file form. */
  readonly ds: string;
  /** DNSKEY record in zone-file form. */
  readonly dnskey: string;
}

/** Creates an ECDSA P-256 key for a zone ("" is the root) in a separate folder. */
export async function makeKey(folder: string, zone: string): Promise<ZoneKey> {
  mkdirSync(folder, { recursive: true });
  const options = ["-q", "-a", "ECDSAP256SHA256", "-f", "KSK", "-K", folder, `${zone}.`];
  const { stdout } = await run("dnssec-keygen", options, { env: LAB_ENVIRONMENT });
  const file = join(folder, stdout.trim());
  const { stdout: ds } = await run("dnssec-dsfromkey", ["-2", `${file}.key`], { env: LAB_ENVIRONMENT });
  const dnskey = readFileSync(`${file}.key`, "utf8")
    .split("\n")
    .filter((line) => !line.startsWith(";"))
    .join("\n");
  return { file, ds: ds.trim(), dnskey: dnskey.trim() };
}

/**
 * Signs a master file with the key. `expired` creates signatures that ended ten days ago (beyond any resolver's
 * tolerance), except the key's own, so that the fault is unambiguous (EDE 7). `optout` is NSEC3 that leaves unsigned
 * delegations out. Writes the signed zone to `output`, one record on each line.
 */
export async function signZone(
  zone: string,
  text: string,
  key: ZoneKey,
  kind: "nsec" | "nsec3" | "optout" | "expired",
  output: string,
): Promise<void> {
  writeFileSync(`${output}.unsigned`, `${text}\n${key.dnskey}\n`);
  const span = kind === "expired" ? [`now-${40 * DAY_S}`, `now-${10 * DAY_S}`] : ["now-3600", `now+${30 * DAY_S}`];
  // One key for everything (-z). -P: an expired zone would not pass the check after signing.
  const options = [
    "-q",
    "-z",
    "-P",
    "-O",
    "full",
    "-o",
    `${zone}.`,
    "-s",
    span[0] ?? "",
    "-e",
    span[1] ?? "",
    "-f",
    output,
  ].concat(
    ["-X", `now+${30 * DAY_S}`],
    kind === "nsec3" || kind === "optout" ? ["-3", "-", "-H", "0"] : [],
    kind === "optout" ? ["-A"] : [],
    [`${output}.unsigned`, key.file],
  );
  // It writes a dsset file to its working directory, whatever the output is.
  await run("dnssec-signzone", options, { env: LAB_ENVIRONMENT, cwd: dirname(output) });
}
