import { describe, expect, it } from "vitest";
import { createRegisteredRoutes } from "#control-plane/http/operations/registered-routes.ts";
import { deprecationHeaders, versionOfPath } from "#control-plane/http/versions.ts";

describe("the version of a path", () => {
  it.each([
    ["/api/v1/check", "v1"],
    ["/api/v4/", "v4"],
    ["/api/v3/check.php?url=%2Fapi%2Fv1%2F", "v3"],
    ["/api/%761/check", "v1"],
    ["/%61%70%69/%76%32/check", "v2"],
    ["/api/v1", null],
    ["/api/v5/check", null],
    ["/api/v10/check", null],
    ["/API/v1/check", null],
    ["/api/admin/keys", null],
    ["/api/open/ssl", null],
    ["/x?/api/v1/", null],
    ["/%", null],
    // Of Statuspage's API v2, at a status page's own domain.
    ["/api/v2/summary.json", null],
    ["/api/v2/incidents/unresolved.json?x=1", null],
    ["/api/v2/check?url=x.json", "v2"],
    ["/api/v3/summary.json", "v3"],
  ])("%s is %s", (target, version) => expect(versionOfPath(target)).toBe(version));
});

describe("the headers of a deprecated version", () => {
  const sunset = new Date("2026-10-01T00:00:00Z");

  it("name the dates and the successor of the path", () => {
    expect(deprecationHeaders("/api/v1/check.php?url=x", sunset, "/vantage")).toEqual({
      deprecation: "@1767225600",
      sunset: "Thu, 01 Oct 2026 00:00:00 GMT",
      link: '</vantage/api/v4/check.php>; rel="successor-version"',
    });
  });

  it("name the catalogue if the path is not valid in a header", () => {
    expect(deprecationHeaders('/api/v2/a>;"b', sunset, "")["link"]).toBe('</api/v4/tools>; rel="successor-version"');
  });
});

describe("the registered routes", () => {
  const routes = createRegisteredRoutes();
  routes.add("GET", "/api/v4/check");
  routes.add("POST", "/api/v4/check");
  routes.add(["GET", "POST", "HEAD"], "/api/heartbeat/:token");
  routes.add("GET", "/api/heartbeat/:token/log.txt");
  routes.add("GET", "/docs/*");

  it.each([
    ["/api/v4/check", ["GET", "POST"]],
    ["/api/v4/check/", ["GET", "POST"]],
    ["/api/v4/chec", []],
    ["/api/heartbeat/x.y", ["GET", "HEAD", "POST"]],
    ["/api/heartbeat/x/logStxt", []],
    ["/api/heartbeat/x/log.txt", ["GET"]],
    ["/docs/a/b", ["GET"]],
    ["/", []],
  ])("%s has the methods %j", (path, methods) => expect(routes.methodsOf(path)).toEqual(methods));
});
