import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { sendRaw } from "#test/support/raw-http.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string; readonly security?: readonly object[] }>>>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly examples?: readonly object[] }>> };
}

interface ToolOperations {
  readonly get: {
    readonly parameters: readonly { readonly name: string; readonly example?: unknown; readonly examples?: unknown }[];
  };
  readonly post: {
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          readonly schema: {
            readonly properties: Readonly<Record<string, { readonly examples?: readonly unknown[] }>>;
          };
        };
      };
    };
  };
}

const plane = await stopAfterAll(startControlPlane());

async function document(): Promise<{ text: string; api: OpenApi }> {
  const { text, body } = await plane.call("/openapi.json");
  return { text, api: body as unknown as OpenApi };
}

describe("GET /docs", () => {
  it("is a page whatever name the server has, and 400 if the name is not valid", async () => {
    const ask = async (head: string) =>
      (await sendRaw(plane.url, `GET /docs/ ${head}Connection: close\r\n\r\n`)).slice(0, 12);
    expect(await ask("HTTP/1.1\r\nHost: vantage.example:8080\r\n")).toBe("HTTP/1.1 200");
    expect(await ask("HTTP/1.1\r\nHost: [2001:db8::1]:8080\r\n")).toBe("HTTP/1.1 200");
    expect(await ask("HTTP/1.1\r\nHost:\r\n")).toBe("HTTP/1.1 200");
    expect(await ask("HTTP/1.0\r\n")).toBe("HTTP/1.1 200");
    expect(await ask("HTTP/1.1\r\nHost: a b\r\n")).toBe("HTTP/1.1 400");
  });
});

describe("the page /docs", () => {
  interface Entry {
    readonly summary: string;
    readonly operationId: string;
    readonly tags: readonly string[];
    readonly parameters?: readonly { readonly name: string }[];
    readonly requestBody?: object;
  }
  const read = async () => {
    const page = await plane.call("/docs/");
    const [, named = ""] = /"url":\s*"([^"]+)"/.exec(page.text) ?? [];
    const path = new URL(named, `${plane.url}/docs/`).pathname;
    expect(path).toMatch(/^[/]docs[/]/);
    const { body } = await plane.call(path);
    return body as unknown as {
      readonly info: { readonly description: string };
      readonly tags: readonly { readonly name: string; readonly description?: string }[];
      readonly paths: Readonly<Record<string, Readonly<Record<string, Entry>>>>;
    };
  };

  it("has an entry for each action of a path, with what the action needs", async () => {
    const { paths } = await read();
    const { api } = await document();
    const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        path,
        method,
        operation: operation as unknown as Entry,
      })),
    );
    const actions = operations.flatMap(({ path, method, operation }) => {
      const action = operation.parameters?.find(({ name }) => name === "action") as
        | { readonly schema: { readonly enum: readonly string[] } }
        | undefined;
      return operation.tags[0]?.startsWith("Tools") === true
        ? []
        : (action?.schema.enum ?? []).map((name) => ({ path, method, name, sum: operation.summary }));
    });
    expect(actions.length).toBeGreaterThan(10);
    const summaries = actions.map(({ path, method, name, sum }) => {
      const entry = paths[`${path}?action=${name}`]?.[method];
      expect(entry?.summary, `${method} ${path} ${name}`).not.toBe(sum);
      expect(paths[path]?.[method]?.parameters?.some((one) => one.name === "action")).toBe(false);
      return entry?.summary;
    });
    expect(new Set(summaries).size).toBe(actions.length);
    const run = paths["/api/v4/monitors?action=run"]?.["post"];
    expect([run?.summary, run?.requestBody]).toEqual(["Check a monitor now", undefined]);
    expect(run?.parameters?.map(({ name }) => name)).toEqual(["id", "X-Idempotency-Key"]);
    expect(JSON.stringify(paths["/api/v4/monitors?action=import"]?.["post"]?.requestBody)).toContain('"monitors"');
    const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map((entry) => entry.operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("has each tool once, although it takes GET and POST", async () => {
    const { paths } = await read();
    for (const { name } of CONTRACTS) expect(Object.keys(paths[`/api/v4/${name}`] ?? {}), name).toEqual(["get"]);
  });

  it("has an introduction, and says of each group what it is for", async () => {
    const { info, tags, paths } = await read();
    expect(info.description).toContain("deploy/vantage keys create");
    expect(info.description).toContain("/api/v4/check?url=example.com");
    const described = tags.flatMap(({ name, description = "" }) => (description === "" ? [] : [name]));
    const used = Object.values(paths).flatMap((methods) => Object.values(methods).flatMap((entry) => entry.tags));
    expect([...new Set(used)].toSorted()).toEqual(described.toSorted());
  });
});

describe("GET /openapi.json", () => {
  it("is OpenAPI 3.1 without an error of a linter", async () => {
    const { text, api } = await document();
    expect(api.openapi).toBe("3.1.0");
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({ source: text, config, absoluteRef: "openapi.json" });
    expect(
      problems
        .filter((problem) => problem.severity === "error")
        .map(({ message, location: [place] }) => `${message} ${place?.pointer}`),
    ).toEqual([]);
  });

  it("names every operation once, and every route in it exists", async () => {
    const { api } = await document();
    const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => ({ path, method, operationId })),
    );
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    // Called with a key, because an address without one soon reaches its limit.
    const key = await plane.createKey();
    // A path with an id answers 404 for an id that does not exist.
    for (const { path, method } of operations.filter((operation) => !operation.path.includes("{"))) {
      const { status } = await plane.call(path, { method: method.toUpperCase(), key });
      expect(status, `${method} ${path}`).not.toBe(404);
      expect(status, `${method} ${path}`).not.toBe(405);
    }
  });

  it("documents for every operation with a key that both headers are accepted", async () => {
    const { api } = await document();
    const keyed = Object.entries(api.paths).flatMap(([path, methods]) =>
      Object.values(methods).flatMap(({ operationId, security = [] }) =>
        path.startsWith("/api/v") || path === "/mcp" ? [[operationId, security] as const] : [],
      ),
    );
    expect(keyed.length).toBeGreaterThan(CONTRACTS.length);
    for (const [operationId, security] of keyed) {
      // A status page is public: its reads need no key with a slug.
      const optional = /^(v3_)?read_status$/.test(operationId) ? [{}] : [];
      expect(security, operationId).toEqual([...optional, { apiKey: [] }, { bearerKey: [] }]);
    }
  });

  it("has every tool in versions 4 and 3, the catalogue, the regions and the operator's routes", async () => {
    const { api } = await document();
    const frozen = new Set(["check", "dns", "ssl", "ip", "ping", "health"]);
    const expected = CONTRACTS.flatMap(({ name, open }) => [
      `/api/v4/${name}`,
      ...(frozen.has(name) ? [`/api/v3/${name}`] : []),
      ...(open === undefined ? [] : [`/api/open/${open.name ?? name}`]),
    ]);
    const others = [
      "/api/open",
      "/mcp",
      "/api/v4/batch",
      "/api/v4/monitors",
      "/api/v3/monitors",
      "/api/v4/incidents",
      "/api/v4/maintenance",
      "/api/v4/status",
      "/api/v3/status",
      "/api/v4/audit-export",
      "/api/v4/account",
      "/api/v4/changes",
      "/api/v4/tools",
      "/api/v4/probes",
      "/api/v4/probe",
      "/api/v4/measurements",
      "/api/v4/webhooks",
      "/api/v4/events",
      "/api/v4/metrics",
      "/api/heartbeat/{token}",
      "/api/heartbeat/{token}/{signal}",
      "/s/{id}",
      "/status/{slug}",
      ...["feed.rss", "feed.atom", "feed.json", "summary.json", "badge.svg"].map((file) => `/status/{slug}/${file}`),
      ...["confirm/{token}", "subscribe", "unsubscribe/{token}", "history", "incidents/{id}"].map(
        (path) => `/status/{slug}/${path}`,
      ),
      "/i/{token}",
      "/install/{file}",
      "/mail/confirm/{token}",
      "/mail/resubscribe/{token}",
      "/mail/unsubscribe/{token}",
      "/api/admin/accounts",
      "/api/admin/audit-secret",
      "/api/admin/audit-verify",
      "/api/admin/invites",
      "/api/admin/keys",
      "/api/admin/probe-ca",
      "/api/admin/probe-tokens",
      "/api/admin/probes",
      "/api/admin/probes/logs",
      "/api/admin/queue",
      "/api/admin/request",
      "/api/admin/sd/probes",
      "/api/admin/sign-in-links",
      "/api/admin/warnings",
      "/healthz",
      "/readyz",
    ];
    expect(Object.keys(api.paths).toSorted()).toEqual([...expected, ...others].toSorted());
  });

  it("has an example call and its answer for every tool", async () => {
    const { api } = await document();
    for (const { name, params } of CONTRACTS) {
      const { get, post } = api.paths[`/api/v4/${name}`] as unknown as ToolOperations;
      const body = post.requestBody.content["application/json"].schema.properties;
      for (const required of params.required ?? []) {
        const asked = get.parameters.find((parameter) => parameter.name === required);
        expect(asked?.example ?? asked?.examples, `${name} ${required}`).toBeDefined();
        expect(body[required]?.examples, `${name} ${required}`).toHaveLength(1);
      }
      const words = name.split("-").map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
      const said = api.components.schemas[`${words.join("")}Result`]?.examples?.[0];
      expect(Object.keys(said ?? {}).length, name).toBeGreaterThan(1);
    }
  });
});

describe("GET /docs", () => {
  it("is a page that needs nothing from other hosts", async () => {
    const { status, text, headers } = await plane.call("/docs/");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toContain("text/html");
    expect(text).not.toMatch(/(src|href)="https?:\/\//);
    expect(headers.get("content-security-policy")).toContain("connect-src 'self'");
  });
});

describe("GET /api/v4/tools", () => {
  it("lists every tool with what the key is allowed to use", async () => {
    const free = await plane.createKey("free");
    const { status, body } = await plane.call("/api/v4/tools", { key: free });
    expect(status).toBe(200);
    const rows = body.data as unknown as { name: string; scope: string; allowed: boolean }[];
    expect(rows.map((row) => row.name)).toEqual(CONTRACTS.map((contract) => contract.name));
    for (const row of rows) expect(row.allowed, row.name).toBe(["check", "dns"].includes(row.scope));
    expect(rows[0]).toMatchObject({
      path: "/api/v4/check",
      methods: ["GET", "POST"],
      open_tier: true,
      locations: true,
    });
    expect(rows[0]).not.toHaveProperty("params");
    expect(body.meta).toMatchObject({ request_id: expect.any(String), api_version: "4.0" });
  });

  it("has the schemas of each tool if they are requested", async () => {
    const free = await plane.createKey("free");
    const { body } = await plane.call("/api/v4/tools?schemas=1", { key: free });
    const [first] = body.data as unknown as object[];
    expect(first).toMatchObject({
      name: "check",
      params: { type: "object", required: ["url"], properties: { timeout: { type: "integer", default: 15 } } },
      result: { type: "object" },
    });
    expect((await plane.call("/api/v4/tools?schemas=yes", { key: free })).body.error).toMatchObject({
      field: "schemas",
    });
  });

  it("answers under its older name too, like every versioned path", async () => {
    const free = await plane.createKey("free");
    for (const path of ["/api/v4/tools.php", "/api/v4/tools.php/", "/api/v4/tools/", "/api/v4/probes.php?x=1"]) {
      expect((await plane.call(path, { key: free })).status, path).toBe(200);
    }
    expect((await plane.call("/api/v4/tools.php.php", { key: free })).status).toBe(404);
  });

  it("is refused without a key; with one, the headers have its limits", async () => {
    expect((await plane.call("/api/v4/tools")).status).toBe(401);
    const { headers } = await plane.call("/api/v4/tools", { key: await plane.createKey("pro") });
    expect(headers.get("x-ratelimit-limit")).toBe("60");
    expect(headers.get("x-ratelimit-remaining")).toBe("59");
  });
});
