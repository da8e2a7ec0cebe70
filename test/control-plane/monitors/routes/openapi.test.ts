import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, it } from "vitest";
import { replaceTexts, type Documented, type OddText } from "#test/support/documented-requests.ts";
import { startMonitorService } from "#test/support/monitor-service.ts";
import { operationsOf } from "#test/support/openapi-samples.ts";
import { WIDE_PLANS } from "#test/support/wide-plans.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const service = await stopAfterAll(startMonitorService({ plans: WIDE_PLANS }));
service.attach("eu-west");
const key = await service.createKey();
const { text } = await service.call("/openapi.json");

const operations = () => operationsOf(JSON.parse(text)).filter(({ path }) => path.endsWith("/monitors"));

describe("the API document of monitors", () => {
  it("is without an error of a linter, and has the operations of versions 4 and 3", async () => {
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({ source: text, config, absoluteRef: "openapi.json" });
    expect(problems.filter(({ severity }) => severity === "error").map(({ message }) => message)).toEqual([]);
    expect(
      operations()
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual([
      "create_monitor",
      "delete_monitor",
      "read_monitors",
      "update_monitor",
      "v3_create_monitor",
      "v3_delete_monitor",
      "v3_read_monitors",
      "v3_update_monitor",
    ]);
  });

  it("has samples for everything that is required, and all samples are accepted", async () => {
    expect(operations().flatMap(({ id, unsampled }) => unsampled.map((name) => `${id}: ${name}`))).toEqual([]);
    const types = { keyword: "keyword", keyword_mode: "keyword", dns: "dns", port: "port" };
    const refused: string[] = [];
    for (const { id, method, path, query, body, optional, fields } of operations()) {
      const calls = [
        { what: "sample", query, body },
        ...optional.map(([name, value]) => ({ what: name, query: { ...query, [name]: value }, body })),
        ...fields.map(([name, value]) => {
          const type = Object.entries(types).find(([field]) => field === name)?.[1];
          const target = type === "dns" || type === "port" ? { url: "example.com" } : { url: "https://example.com" };
          const extra = type === undefined ? {} : { check_type: type, ...target };
          const keyword = type === "keyword" ? { keyword: "x" } : {};
          const post = name === "body" ? { method: "POST" } : {};
          return { what: name, query, body: { ...(body as object), ...extra, ...keyword, ...post, [name]: value } };
        }),
      ];
      for (const call of calls) {
        const made = await service.call("/api/v4/monitors", { key, body: { url: "https://example.com" } });
        const search = new URLSearchParams({
          ...(call.query as object),
          ...("id" in query ? { id: String(made.body.data["id"]) } : {}),
        });
        const answer = await service.call(`${path}?${search.toString()}`, {
          method: method.toUpperCase(),
          key,
          ...(call.body === undefined ? {} : { body: call.body }),
        });
        if (answer.status === 400) refused.push(`${id}, ${call.what}: ${answer.text.slice(0, 200)}`);
      }
    }
    expect(refused).toEqual([]);
  });

  const ODD: readonly OddText[] = [
    { inUrl: "a%00b", inHeader: null, inJson: "a\0b" },
    { inUrl: "a%01%09%0A%1B%7F%C2%85b", inHeader: "a\t\u0085b", inJson: "a\u0001\t\n\u001b\u007f\u0085b" },
    { inUrl: "a%ED%A0%80b", inHeader: null, inJson: "a\ud800b" },
    { inUrl: "a".repeat(600), inHeader: "a".repeat(600), inJson: "a".repeat(600) },
    { inUrl: "a%E2%80%AEb", inHeader: null, inJson: "a\u202eb" },
    { inUrl: "a%zzb", inHeader: null, inJson: null },
  ];

  it.each(ODD)("odd texts in any place never cause an error of ours: %j", async (odd) => {
    const document = JSON.parse(text) as Documented;
    const paths = Object.fromEntries(Object.entries(document.paths).filter(([path]) => path.endsWith("/monitors")));
    const faults: string[] = [];
    let sent = 0;
    for (const { name, method, path, headers, body } of replaceTexts({ ...document, paths }, odd)) {
      const answer = await service.call(path, {
        method,
        key,
        headers: { "content-type": "application/json", ...headers },
        ...(body === undefined || method === "GET" ? {} : { body }),
      });
      sent += 1;
      if (answer.status >= 500) faults.push(`${name}: ${answer.status} ${answer.text.slice(0, 200)}`);
    }
    expect(faults).toEqual([]);
    expect(sent).toBeGreaterThan(10);
  });
});
