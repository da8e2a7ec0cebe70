import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { parseCertificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { strictFaults, formFindings } from "#probe-agent/analysis/tls/ssl/form-findings.ts";
import { verifyChain } from "#probe-agent/analysis/tls/certificate.ts";
import { buildChain, CHAIN_HOST, type Chain } from "#test/servers/chains/build.ts";
import { AUTHORITY_ROWS } from "#test/servers/chains/rows-authority.ts";
import { ENCODING_ROWS } from "#test/servers/chains/rows-encoding.ts";
import { LEAF_ROWS } from "#test/servers/chains/rows-leaf.ts";
import { POLICY_ROWS } from "#test/servers/chains/rows-policy.ts";
import { DIFFERENCES, type Row } from "#test/servers/chains/row.ts";
import { pemOf } from "#test/servers/chains/writer.ts";
import { HAS_OPENSSL } from "#test/servers/openssl.ts";

if (!HAS_OPENSSL) console.log("skipped: broken chains beside openssl verify: no openssl on this machine");

const ROWS: readonly Row[] = [...LEAF_ROWS, ...AUTHORITY_ROWS, ...POLICY_ROWS, ...ENCODING_ROWS];
const MADE = new Date(Math.floor(Date.now() / 1000) * 1000);
const folder = mkdtempSync(join(tmpdir(), "chains-"));
afterAll(() => rmSync(folder, { recursive: true }));
const run = promisify(execFile);

/** Verifies a row's chain. */
function ours(row: Row) {
  const chain = buildChain(row.change, MADE);
  const now = new Date(MADE.getTime() + (row.atMs ?? 0));
  const verdict = verifyChain({ ...chain, roots: [chain.root], host: CHAIN_HOST, now });
  const strict = [...new Set(strictFaults(verdict).map(({ rule }) => rule))];
  return { chain, now, verdict, strict, warnings: formFindings(verdict).map(({ id }) => id) };
}

const looked = new Map(ROWS.map((row) => [row, ours(row)]));

function look(row: Row): ReturnType<typeof ours> {
  return looked.get(row) ?? ours(row);
}

describe("a table of broken chains", () => {
  it("has a unique name for each row", () => {
    expect(new Set(ROWS.map(({ name }) => name)).size).toBe(ROWS.length);
    expect(ROWS.length).toBeGreaterThan(100);
  });

  it.each(ROWS)("$name", (row) => {
    const { verdict, strict, warnings } = look(row);
    expect({ errors: verdict.errors, trusted: verdict.trusted }).toEqual({
      errors: row.errors,
      trusted: row.errors.length === 0,
    });
    if (!verdict.trusted) return;
    expect(strict).toEqual(row.strict ?? []);
    expect(warnings).toEqual(row.strict === undefined ? [] : ["strict-clients"]);
  });
});

describe.skipIf(!HAS_OPENSSL)("the same chains and openssl verify (differential)", async () => {
  /**
   * Returns whether openssl accepts each row's chain. A shell starts the commands because it forks faster than Node.
   */
  async function openssl(name: string, option: string): Promise<ReadonlyMap<Row, boolean>> {
    const commands = ROWS.map((row, index) => {
      const { chain, now } = look(row);
      return `${command(`${name}-${index}`, chain, now, option)} >/dev/null 2>&1; echo $?`;
    });
    const script = join(folder, `${name}.sh`);
    writeFileSync(script, commands.join("\n"));
    const { stdout } = await run("sh", [script]);
    const codes = stdout.trim().split("\n");
    return new Map(ROWS.map((row, index) => [row, codes[index] === "0"]));
  }

  function command(name: string, chain: Chain, now: Date, option: string): string {
    const file = (part: string, ders: readonly Uint8Array[]): string => {
      const path = join(folder, `${name}-${part}.pem`);
      writeFileSync(path, ders.map(pemOf).join(""));
      return path;
    };
    const untrusted = chain.intermediates.length === 0 ? "" : `-untrusted ${file("sent", chain.intermediates)}`;
    const anchors = `-CAfile ${file("root", [chain.root])} -no-CApath -no-CAstore`;
    const when = `-attime ${Math.floor(now.getTime() / 1000)}`;
    return `openssl verify ${option} -purpose sslserver ${when} ${anchors} ${untrusted} ${file("leaf", [chain.leaf])}`;
  }

  const [byDefault, strictly] = await Promise.all([openssl("default", ""), openssl("strict", "-x509_strict")]);
  const verdictOf = ({ errors }: Row): boolean => errors.length === 0;

  it("each difference from openssl's default result has a reason, and each reason a difference", () => {
    const differing = ROWS.filter((row) => byDefault.get(row) !== verdictOf(row));
    const explained = ROWS.filter(({ differs }) => differs !== undefined);
    expect(differing.map(({ name }) => name)).toEqual(explained.map(({ name }) => name));
    const used = new Set<string | undefined>(explained.map(({ differs }) => differs));
    expect(Object.keys(DIFFERENCES).filter((reason) => !used.has(reason))).toEqual([]);
  });

  it("the warning on strict clients agrees with -x509_strict, except for those reasons", () => {
    const accepted = (row: Row): boolean => verdictOf(row) && row.strict === undefined;
    const differing = ROWS.filter((row) => strictly.get(row) !== accepted(row));
    expect(differing.filter(({ differs }) => differs === undefined).map(({ name }) => name)).toEqual([]);
  });

  it("a chain that the default accepts and -x509_strict refuses always has a warning", () => {
    const onlyStrict = ROWS.filter((row) => byDefault.get(row) === true && strictly.get(row) === false);
    const silent = onlyStrict.filter((row) => verdictOf(row) && row.strict === undefined);
    expect(silent.map(({ name }) => name)).toEqual([]);
    expect(onlyStrict.filter(verdictOf).length).toBeGreaterThan(15);
  });
});

describe("the certificates of the table", () => {
  it("can all be parsed except the two that no parser accepts", () => {
    const unreadable = ROWS.filter((row) => parseCertificate(look(row).chain.leaf) === null);
    expect(unreadable.map(({ name }) => name)).toEqual(["the two signature algorithms differ", "an extension twice"]);
  });
});
