import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readConfig } from "#probe-agent/config.ts";
import { openHstsPreload, parseHstsPreload } from "#probe-agent/data/hsts-preload.ts";
import { openData } from "#probe-agent/data/open.ts";

const folder = mkdtempSync(join(tmpdir(), "preload-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Has the form of Chromium's file: comment lines between entries, slashes inside strings. */
const FILE = `// Copyright notice
{
  // Pins come first.
  "pinsets": [{ "name": "x", "report_uri": "http://a.example/" }],
  "entries": [
    // gTLDs
    { "name": "dev", "policy": "public-suffix", "mode": "force-https", "include_subdomains": true },
    { "name": "Plain.example", "policy": "custom", "mode": "force-https" },
    { "name": "wide.example", "policy": "bulk-1-year", "mode": "force-https", "include_subdomains": true },
      // indented
    { "name": "narrow.wide.example", "policy": "custom", "mode": "force-https" },
    { "name": "pins.wide.example", "policy": "custom", "include_subdomains": true, "pins": "x" }
  ]
}
`;

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe("the HSTS preload list", () => {
  const list = parseHstsPreload(FILE);
  it.each([
    ["wide.example", { include_subdomains: true }],
    ["a.b.WIDE.example.", { include_subdomains: true }],
    ["any.dev", { include_subdomains: true }],
    ["plain.example", { include_subdomains: false }],
    ["www.plain.example", null],
    ["xwide.example", null],
    ["example", null],
    ["", null],
    ["127.0.0.1", null],
    ["__proto__", null],
  ])("returns for %s: %o", (host, expected) => {
    expect(list?.find(host)).toEqual(expected);
  });

  it("uses the nearest entry, as Chromium does", () => {
    expect(list?.find("narrow.wide.example")).toEqual({ include_subdomains: false });
    expect(list?.find("a.narrow.wide.example")).toBeNull();
    expect(list?.find("pins.wide.example")).toBeNull();
  });
});

describe("the HSTS preload file", () => {
  it("is opened with the agent's other data", () => {
    const read = readConfig({ VANTAGE_HSTS_PRELOAD_FILE: write("list.json", `\uFEFF${FILE}`) });
    if (!read.ok) throw new Error(read.line);
    const opened = openData(read.config);
    if (!opened.ok) throw new Error(opened.line);
    expect(opened.data.hasHstsPreload).toBe(true);
    expect(opened.data.hstsPreload("any.dev")).toEqual({ include_subdomains: true });
  });

  it("is optional, and without it no host is known", () => {
    const opened = openHstsPreload(null);
    expect(opened).toMatchObject({ ok: true, data: { loaded: false } });
    expect(opened.ok && opened.data.find("any.dev")).toBeNull();
  });

  it.each([
    ["invalid JSON", "// only a comment\n{"],
    ["another JSON", "[]"],
    ["entries that are not a list", '{"entries": {}}'],
    ["entries without names", '{"entries": [{"mode": "force-https"}]}'],
    ["nothing", ""],
  ])("with %s stops the start with one line that names the setting", (_, text) => {
    const file = write("bad.json", text);
    const line = `VANTAGE_HSTS_PRELOAD_FILE: ${file}: not Chromium's transport_security_state_static.json`;
    expect(openHstsPreload(file)).toEqual({ ok: false, line });
  });

  it("stops the start if it is missing, a folder or too large", () => {
    for (const file of [join(folder, "absent.json"), folder]) {
      const opened = openHstsPreload(file);
      expect(opened.ok ? "" : opened.line).toMatch(/^VANTAGE_HSTS_PRELOAD_FILE: E(?:NOENT|ISDIR)[^\n]*$/);
    }
    const huge = write("huge.json", "");
    truncateSync(huge, 200 * 1024 * 1024);
    expect(openHstsPreload(huge)).toEqual({
      ok: false,
      line: `VANTAGE_HSTS_PRELOAD_FILE: ${huge}: larger than 128 MB`,
    });
  });

  it("with two hundred thousand entries is read quickly", () => {
    const entries = Array.from({ length: 200_000 }, (_, n) => `// ${n}\n{"name":"h${n}.example","mode":"force-https"}`);
    const list = parseHstsPreload(`{"entries":[\n${entries.join(",\n")}]}`);
    expect(list?.find("h199999.example")).toEqual({ include_subdomains: false });
  });
});
