import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { placelessOf } from "#control-plane/notify/events/monitor-event.ts";
import { CHECK_TYPES, kindOf } from "#control-plane/outages/kinds/kinds.ts";
import { secretPlacesOf, valuesAt, withSecrets } from "#control-plane/outages/kinds/secrets.ts";
import { findNoSecret, leaveOutSecrets } from "#control-plane/monitors/transfer/row-secrets.ts";
import { readSourceFiles, ROOT } from "#test/laws/source-files.ts";

const product = readSourceFiles(["control-plane"]);

describe("the settings of monitors", () => {
  it("are parsed by one function, which knows the defaults of what old rows lack", () => {
    const ofRows =
      /(?:JSON\.parse|parseExact)\([^)]*\)\s+as\s+(?:Partial<|Pick<)?MonitorSettings|(?:JSON\.parse|parseExact)\((?:\w+\.)*settings\b/;
    const parsers = product.filter(({ code }) => ofRows.test(code)).map(({ path }) => path);
    expect(parsers).toEqual(["control-plane/outages/kinds/stored-settings.ts"]);
  });
});

describe("the kinds of monitors", () => {
  it("have a file each, of their name", () => {
    for (const name of CHECK_TYPES)
      expect(existsSync(join(ROOT, `control-plane/outages/kinds/${name}.ts`)), name).toBe(true);
  });

  it("are distinguished elsewhere by their facts, except where something belongs to one kind alone", () => {
    const names = CHECK_TYPES.join("|");
    const byName = new RegExp(`check_?[tT]ype"?\\]? (?:[!=]==|<>) ["'](?:${names})["']`, "g");
    const branches = product
      .filter(({ path }) => !path.startsWith("control-plane/outages/kinds/"))
      .flatMap(({ path, text }) => Array.from(text.matchAll(byName), ([found]) => `${path}: ${found}`));
    const elsewhere = branches.filter((one) => !/^control-plane\/(?:monitors|surfaces\/account-metrics)\//.test(one));
    expect(elsewhere).toEqual([]);
  });

  it("that no location checks are those of which notices name no target and no location", () => {
    for (const name of CHECK_TYPES) {
      const { target, locations, evidence } = kindOf(name);
      const placeless = target === null ? { waitsForPings: evidence.gathers === "pings" } : null;
      expect(placelessOf(name), name).toEqual(placeless);
      expect(locations === "none", name).toBe(placeless !== null);
    }
  });

  it("have their secrets in places which an export leaves out and a response masks", () => {
    for (const name of CHECK_TYPES)
      for (const place of secretPlacesOf(name)) {
        const value = place.isText ? place.field : "Token";
        const monitor = withSecrets({ request_headers: { Other: "a" }, [name]: {} }, name, { [value]: "s3cret" });
        expect(valuesAt(monitor, place), name).toEqual({ [value]: "s3cret" });
        expect(leaveOutSecrets({ request_headers: { [value]: "s3cret" }, body: null }, name)).toEqual({
          request_headers: {},
          body: null,
          secrets_missing: [`${place.prefix}${value}`],
        });
        expect(findNoSecret([`${place.prefix}${value}`, "body", place.prefix])).toBe(2);
      }
  });
});
