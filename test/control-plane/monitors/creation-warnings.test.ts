import { describe, expect, it } from "vitest";
import type { CheckType } from "#control-plane/outages/kinds/kinds.ts";
import { warnOfCreation } from "#control-plane/monitors/creation-warnings.ts";

describe("the creation of a monitor", () => {
  it.each<[CheckType, string, boolean, string | null]>([
    ["domain", "shop.de", false, "url: The registry of .de publishes no end"],
    ["domain", "shop.eu", false, "url: The registry of .eu publishes no end"],
    ["domain", "shop.com", false, null],
    ["http", "https://www.shop.de/a", true, "watch_domain: The registry of .de publishes no end"],
    ["http", "https://www.shop.de/a", false, null],
    ["http", "http://www.shop.com/", false, "url: The certificate is watched only where the url begins with https"],
    ["http", "http://127.0.0.1/", false, null],
    ["ping", "shop.de", false, null],
  ])("of type %s of %s, watch_domain %s, warns: %s", (check_type, url, watch_domain, words) => {
    const warnings = warnOfCreation({ check_type, url, watch_domain, port: null });
    const said = warnings.map(({ parameter, message }) => `${parameter}: ${message}`);
    expect(said).toEqual(words === null ? [] : [expect.stringContaining(words)]);
  });
});
