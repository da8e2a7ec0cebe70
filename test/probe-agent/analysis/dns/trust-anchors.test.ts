import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { IANA_ANCHORS, parseAnchors } from "#probe-agent/analysis/dns/trust-anchors.ts";
import { readDs } from "#probe-agent/tools/dns/dnssec/delegations.ts";
import { readTrustAnchors } from "#probe-agent/data/trust-anchors.ts";

const KEY = "257 3 13 GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==";

describe("trust anchors", () => {
  it("are by default the root's two keys of IANA", () => {
    const read = IANA_ANCHORS.map(({ zone, type, raw }) => ({ zone, type, ...readDs(raw) }));
    expect(read).toEqual([
      {
        zone: ".",
        type: "DS",
        keyTag: 20326,
        algorithm: 8,
        digestType: 2,
        digest: "E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D",
      },
      {
        zone: ".",
        type: "DS",
        keyTag: 38696,
        algorithm: 8,
        digestType: 2,
        digest: "683D2D0ACB8C9B712A1948B27F741219298D0A450D612C483AF444A4C0FB2B16",
      },
    ]);
  });

  it("are read in zone-file form: comments, parentheses, TTL and class or none, any zone", () => {
    const read = parseAnchors(`
; the lab's root
.  IN  DS 1 8 2 ${"AB".repeat(16)} ( ; half
       ${"CD".repeat(16)} )
example.net. 3600 IN DNSKEY ${KEY}
island.test  IN 300 dnskey 257 3 13 (
   GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edb
   krSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA== )`);
    if (!read.ok) throw new Error(read.fault);
    expect(read.anchors.map(({ zone, type, raw }) => [zone, type, raw.length])).toEqual([
      [".", "DS", 36],
      ["example.net", "DNSKEY", 68],
      ["island.test", "DNSKEY", 68],
    ]);
  });

  it.each([
    ["", "no DS or DNSKEY record in it"],
    ["; nothing\n", "no DS or DNSKEY record in it"],
    ["\n\nexample.", "line 3: a record has the form: owner, optional TTL and IN, type, data"],
    ["example. IN A 192.0.2.1", "example A: only DS and DNSKEY records are trust anchors"],
    ["example. IN DS 1 8 2 XYZ", "line 1: not hexadecimal"],
    ["example. IN DS 70000 8 2 AB", "line 1: 70000 is not an integer from 0 to 65535"],
    ["$ORIGIN example.", "line 1: a record has the form"],
    ["@ IN DS 1 8 2 AB", "line 1: @ is not an absolute domain name"],
    ['trust-anchors { . static-key 257 3 8 "AwEAAQ=="; };', "line 1:"],
    ["example. IN DS ( 1 8 2 AB", "line 1: a parenthesis is not closed"],
    ["example. IN DS 1 8 2", "example DS: the digest or key is missing"],
  ])("are refused with the line and the fault: %j", (text, fault) => {
    const read = parseAnchors(text);
    expect(read.ok ? "" : read.fault).toContain(fault);
  });

  it("come from the operator's file, and a bad file is reported in one line that names the setting", () => {
    const folder = mkdtempSync(join(tmpdir(), "anchors-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "anchors.zone");
    writeFileSync(path, `example.net. DNSKEY ${KEY}\n`);
    expect(readTrustAnchors(path)).toMatchObject({ ok: true, anchors: [{ zone: "example.net", type: "DNSKEY" }] });
    writeFileSync(path, "nonsense\n");
    expect(readTrustAnchors(path)).toEqual({
      ok: false,
      fault: expect.stringMatching(/^VANTAGE_TRUST_ANCHORS .*: line 1: [^\n]*$/),
    });
    expect(readTrustAnchors(`${path}.absent`)).toEqual({
      ok: false,
      fault: expect.stringContaining("cannot be read (ENOENT)"),
    });
    expect(readTrustAnchors(null)).toEqual({ ok: true, anchors: IANA_ANCHORS });
  });
});
