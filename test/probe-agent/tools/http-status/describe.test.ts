import { STATUS_CODES } from "node:http";
import { describe, expect, it } from "vitest";
import { describeStatus, retryAfterSeconds } from "#probe-agent/tools/http-status/describe.ts";

describe("a status code", () => {
  it("of the registry has its registered name, which equals that of Node's table if both have it", () => {
    // Node keeps names that RFC 9110 changed, two that the registry marks, and 509, which is in no registry.
    const changed = new Set([302, 413, 418, 422, 509, 510]);
    for (const [code, name] of Object.entries(STATUS_CODES)) {
      if (changed.has(Number(code))) continue;
      expect(describeStatus(Number(code))).toMatchObject({ name, registered: true, vendor: null });
    }
    expect(describeStatus(413).name).toBe("Content Too Large");
    expect(describeStatus(422).name).toBe("Unprocessable Content");
    expect(describeStatus(418)).toMatchObject({ registered: true, name: "(Unused)" });
  });

  it("belongs to a class by its first digit", () => {
    const classes = [100, 299, 308, 451, 599].map((code) => describeStatus(code).class);
    expect(classes).toEqual(["informational", "success", "redirection", "client_error", "server_error"]);
    expect([0, 99, 600, 999].map((code) => describeStatus(code).class)).toEqual([
      "invalid",
      "invalid",
      "invalid",
      "invalid",
    ]);
  });

  it.each([
    [444, "nginx", "No Response"],
    [499, "nginx", "Client Closed Request"],
    [520, "Cloudflare", "Web Server Returned an Unknown Error"],
    [522, "Cloudflare", "Connection Timed Out"],
    [526, "Cloudflare", "Invalid SSL Certificate"],
    [530, "Cloudflare, Pantheon", "Origin DNS Error or Site Frozen"],
    [999, "LinkedIn, Yahoo", "Request Denied"],
    [509, "Apache, cPanel", "Bandwidth Limit Exceeded"],
  ])("%i is not registered and belongs to %s, which calls it %s", (code, vendor, name) => {
    expect(describeStatus(code)).toMatchObject({ registered: false, vendor, name });
  });

  it("that is unknown is described as the first code of its class", () => {
    expect(describeStatus(477)).toMatchObject({ name: null, vendor: null, registered: false });
    expect(describeStatus(477).meaning).toContain("400");
  });
});

describe("Retry-After (RFC 9110 section 10.2.3)", () => {
  const now = new Date("1999-12-31T23:57:59Z");
  it.each([
    ["120", 120],
    [" 0 ", 0],
    ["Fri, 31 Dec 1999 23:59:59 GMT", 120],
    ["Fri, 31 Dec 1998 23:59:59 GMT", 0],
    ["999999999999999999999", 315_360_000],
  ])("%s is %i s", (value, seconds) => {
    expect(retryAfterSeconds(value, now)).toBe(seconds);
  });

  it.each(["", "-1", "1.5", "soon", "1h", "0x10"])("%j is invalid", (value) => {
    expect(retryAfterSeconds(value, now)).toBeNull();
  });
});
