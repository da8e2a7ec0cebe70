import type { FoundRoute } from "#test/support/dashboard-routes.ts";
import { pathsOf } from "#test/support/dashboard-world.ts";
import { operationsOf, type ApiOperation } from "#test/support/openapi-samples.ts";
import type { Asked } from "#test/recording/ask.ts";
import { DOMAIN, SLUG, type RecordedWorld } from "#test/recording/world.ts";

/** Nothing in the world has this id. */
const ABSENT = "999999";
/** They end the session, or the account, that later requests need. */
const LAST = new Set(["/sign-out", "/app/profile/sessions", "/app/profile/account"]);
const json = { "content-type": "application/json" };

/** Every request of a recording, in its order. `document`: the OpenAPI document of the service. */
export function listRequests(routes: readonly FoundRoute[], world: RecordedWorld, document: unknown): readonly Asked[] {
  const operations = operationsOf(document);
  const isLast = ({ method, path }: Asked) => LAST.has(path.split("?", 1)[0] ?? "") && method === "POST";
  const plain = routes.flatMap((route) => requestsOf(route, world));
  const changing = operations.flatMap((operation) => sampleOf(operation));
  return [
    ...plain.filter((asked) => !isLast(asked)),
    ...toolRequests(routes, world),
    ...readRequests(world),
    ...agentRequests(world),
    ...brokenRequests(),
    ...changing.filter(({ method }) => method === "GET"),
    ...changing.filter(({ method }) => method === "POST" || method === "PUT"),
    ...removals(world),
    ...changing.filter(({ method }) => method === "DELETE"),
    ...plain.filter(isLast),
  ];
}

/** What every route is asked: without credentials, and with them but without what it needs. */
function requestsOf({ method, url }: FoundRoute, world: RecordedWorld): readonly Asked[] {
  const writes = method === "POST" || method === "PUT";
  if (url.startsWith("/api/admin/")) {
    const path = url;
    return [
      { method, path, as: "nobody" },
      { method, path, as: "key" },
      { method, path, as: "operator", ...(writes ? { body: {} } : {}) },
      writes
        ? { method, path, as: "operator", body: { no_such_field: 1 } }
        : { method, path: `${path}?no_such_field=1`, as: "operator" },
    ];
  }
  // At the domain of a page these are the page's.
  if (/^\/api\/v2\/.*\.json$/.test(url)) {
    return [
      { method, path: url, as: "nobody" },
      { method, path: url, as: "nobody", headers: { host: DOMAIN } },
    ];
  }
  if (/^\/api\/v\d\//.test(url)) {
    return [
      { method, path: url, as: "nobody" },
      { method, path: url, as: "key", ...(writes ? { body: {} } : {}) },
      writes
        ? { method, path: url, as: "key", body: { no_such_field: 1 } }
        : { method, path: `${url}?no_such_field=1`, as: "key" },
    ];
  }
  if (url === "/mcp") return [{ method, path: url, as: "nobody" }];
  if (url.startsWith("/app")) return dashboardRequests(method, url, world);
  const path = publicPath(url, world);
  // At its own domain a page is the root; the other paths are the service's.
  const isPage = /^\/(?:$|history|summary|badge|feed|incidents|logo|subscribe|confirm\/|unsubscribe\/)/.test(url);
  return [
    { method, path, as: "nobody", ...(method === "POST" ? { form: { _csrf: null } } : {}) },
    ...(isPage
      ? [{ method, path, as: "nobody" as const, headers: { host: DOMAIN }, ...(method === "POST" ? { form: {} } : {}) }]
      : []),
    ...(/^\/(?:$|sign-|reset|start|invite|status\/:slug$)/.test(url) && method === "GET"
      ? [{ method, path, as: "owner" as const }]
      : []),
  ];
}

function publicPath(url: string, world: RecordedWorld): string {
  if (url.startsWith("/start/")) return world.startPath;
  if (url.startsWith("/invite/")) return world.invitePath;
  return url
    .replace("/heartbeat/:token", `/heartbeat/${"0".repeat(20)}`)
    .replace(":signal", "fail")
    .replace(":slug", SLUG)
    .replace("/incidents/:id", `/incidents/${world.publicIncidentId}`)
    .replace("/s/:id", `/s/${world.shareId}`)
    .replace(":file", "0.png")
    .replace(":picture", "0.png")
    .replace(":token", "A".repeat(32))
    .replace("*", "none");
}

function dashboardRequests(method: string, url: string, world: RecordedWorld): readonly Asked[] {
  if (url.startsWith("/app/assets/"))
    return [{ method, path: url.replace(":version", "0".repeat(16)).replace(":name", "live.js"), as: "nobody" }];
  if (method === "GET") {
    const paths = pathsOf(url, world);
    return [
      ...paths.slice(0, 1).map((path): Asked => ({ method, path, as: "nobody" })),
      ...paths.map((path): Asked => ({ method, path, as: "owner" })),
    ];
  }
  const path = url.replace(/:[a-z]+/, url.includes(":name") ? "dns" : ABSENT);
  return [
    { method, path, as: "nobody", form: { _csrf: null } },
    { method, path, as: "owner", form: { _csrf: null } },
    { method, path, as: "owner", form: {} },
  ];
}

/** Each tool with the call of its example: planned only and run, in each version, without a key, and for an agent. */
function toolRequests(routes: readonly FoundRoute[], { examples }: RecordedWorld): readonly Asked[] {
  const has = (url: string) => routes.some((route) => route.url === url);
  return [...examples].flatMap(([tool, { params }]): readonly Asked[] => {
    const target = Object.values(params)[0];
    const query = new URLSearchParams(
      Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString();
    const open = new URLSearchParams({ q: String(target) });
    return [
      { method: "GET", path: `/api/v4/${tool}?${query}&dry_run=1`, as: "key" },
      { method: "GET", path: `/api/v4/${tool}?${query}`, as: "key" },
      { method: "POST", path: `/api/v4/${tool}`, as: "key", body: { ...params, locations: "eu-west" } },
      ...["v3", "v2", "v1"]
        .filter((version) => has(`/api/${version}/${tool}`))
        .map((version): Asked => ({ method: "GET", path: `/api/${version}/${tool}?${query}`, as: "key" })),
      ...(has(`/api/open/${tool}`)
        ? ["text", "json", "csv"].map(
            (format): Asked => ({
              method: "GET",
              path: `/api/open/${tool}?${open.toString()}&format=${format}`,
              as: "nobody",
            }),
          )
        : []),
      rpc("tools/call", { name: tool.replaceAll("-", "_"), arguments: params }),
    ];
  });
}

/** What the things of the world look like in each version. */
function readRequests(world: RecordedWorld): readonly Asked[] {
  const { monitors, pageId, publicIncidentId, incidentId, maintenanceId, webhookId, batchId, measurementId } = world;
  const ids = Object.values(monitors);
  const paths = [
    ...["v1", "v2", "v3", "v4"].flatMap((version) => ids.map((id) => `/api/${version}/monitors?id=${id}`)),
    ...["v3", "v4"].flatMap((version) => [
      `/api/${version}/status?id=${pageId}`,
      `/api/${version}/status?slug=${SLUG}`,
    ]),
    `/api/v2/incidents?id=${incidentId}`,
    `/api/v4/monitors?limit=2&offset=1&sort=name`,
    `/api/v4/incidents?id=${incidentId}`,
    `/api/v4/incidents?id=${publicIncidentId}`,
    `/api/v4/maintenance?id=${maintenanceId}`,
    `/api/v4/webhooks?id=${webhookId}`,
    `/api/v4/batch?job_id=${batchId}`,
    `/api/v4/measurements?id=${measurementId}`,
    `/api/v4/audit-export?format=csv`,
    `/api/v4/audit-export?type=monitors`,
    `/api/v4/probe?target=https://example.com/&module=http_2xx`,
    `/api/v4/tools?tool=dns`,
  ];
  return [
    ...paths.map((path): Asked => ({ method: "GET", path, as: "key" })),
    { method: "GET", path: `/s/${world.shareId}`, as: "nobody", headers: { accept: "application/json" } },
    // A line of the log: another ping would change the status of the heartbeat, some time after its answer.
    { method: "GET", path: `/api/heartbeat/${world.heartbeatToken}/log`, as: "nobody" },
    ...["en", "es", "de"].map(
      (lang): Asked => ({
        method: "GET",
        path: `/status/${SLUG}`,
        as: "nobody",
        headers: { "accept-language": lang },
      }),
    ),
  ];
}

/** The end of what the world has. */
function removals({ monitors, pageId, maintenanceId, webhookId, batchId, measurementId }: RecordedWorld): Asked[] {
  return [
    `/api/v3/monitors?id=${monitors.tcp}`,
    `/api/v4/monitors?id=${monitors.http}`,
    `/api/v4/maintenance?id=${maintenanceId}`,
    `/api/v4/status?id=${pageId}`,
    `/api/v4/webhooks?id=${webhookId}`,
    `/api/v4/measurements?id=${measurementId}`,
    `/api/v4/batch?job_id=${batchId}`,
  ].map((path) => ({ method: "DELETE", path, as: "key" }));
}

/** The agent endpoint: its protocol, and the queries of the platform. */
function agentRequests({ monitors, pageId, batchId }: RecordedWorld): readonly Asked[] {
  const client = { name: "recording", version: "1" };
  const call = (name: string, args: object = {}) => rpc("tools/call", { name, arguments: args });
  return [
    rpc("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: client }),
    rpc("tools/list"),
    { ...rpc("tools/list"), path: "/mcp?toolset=web" },
    { ...rpc("tools/list"), path: "/mcp?toolset=wbe" },
    { ...rpc("tools/list"), as: "nobody" },
    rpc("no/such"),
    call("no_such_tool"),
    ...["list_monitors", "list_events", "list_webhooks", "get_monitor"].map((name) => call(name)),
    call("get_monitor", { id: monitors.heartbeat }),
    call("get_monitor", { id: Number(ABSENT) }),
    call("get_status_page", { id: pageId }),
    call("get_batch", { job_id: batchId }),
    call("list_monitors", { no_such_field: 1 }),
    { method: "POST", path: "/mcp", as: "key", body: "[]", headers: json },
    { method: "POST", path: "/mcp", as: "key", body: "{", headers: json },
  ];
}

/** Requests that no route answers, or whose body cannot be read. */
function brokenRequests(): readonly Asked[] {
  return [
    { method: "GET", path: "/no/such/path", as: "nobody" },
    { method: "GET", path: "/api/v4/none", as: "key" },
    { method: "GET", path: "/api/v1/none", as: "nobody" },
    { method: "PATCH", path: "/api/v4/monitors", as: "key" },
    { method: "PUT", path: "/healthz", as: "nobody" },
    { method: "GET", path: "/api/v4/dns.php", as: "key" },
    { method: "POST", path: "/api/v4/dns", as: "key", body: "{", headers: json },
    { method: "POST", path: "/api/v4/dns", as: "key", body: "<a/>", headers: { "content-type": "text/xml" } },
    { method: "GET", path: "/api/v4/monitors", as: "nobody", headers: { "x-api-key": "wrong" } },
    { method: "GET", path: "/api/v3/monitors?api_key=wrong", as: "nobody" },
    { method: "GET", path: "/api/v4/monitors?id=x", as: "key" },
    { method: "GET", path: `/api/v4/monitors?id=${ABSENT}`, as: "key" },
    { method: "GET", path: "/status/none", as: "nobody" },
  ];
}

/** An operation of the API document with the document's sample. What would go on in the background is left out. */
function sampleOf({ id, method, path, query, body }: ApiOperation): readonly Asked[] {
  const isApart = /^\/(?:mcp|i\/|s\/|status\/|confirm|mail)|\/(?:batch|measurements)$|\{/.test(path);
  if (isApart || !/^\/api\/(?!open)/.test(path)) return [];
  const isTool = /^v\d_/.test(id);
  const names = Object.entries<unknown>({
    ...query,
    ...(isTool && path.startsWith("/api/v4/") ? { dry_run: "1" } : {}),
  });
  const search = new URLSearchParams(names.map(([name, value]): [string, string] => [name, String(value)])).toString();
  const as = path.startsWith("/api/admin/") ? "operator" : "key";
  const isMonitor = path.endsWith("/monitors") && typeof body === "object";
  const sent = isMonitor ? { ...body, is_active: false } : body;
  return [
    {
      method: method.toUpperCase(),
      path: `${path}${search === "" ? "" : `?${search}`}`,
      as,
      ...(sent === undefined ? {} : { body: sent }),
    },
  ];
}

function rpc(method: string, params: object = {}): Asked {
  const headers = { ...json, accept: "application/json, text/event-stream" };
  return { method: "POST", path: "/mcp", as: "key", headers, body: { jsonrpc: "2.0", id: 1, method, params } };
}
