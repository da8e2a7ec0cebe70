import { describe, expect, it } from "vitest";
import type { Handler } from "#test/servers/http.ts";
import { careful, checksOf, createHealthBench, HOST } from "#test/support/health.ts";
import { failureOf } from "#test/support/http-engine.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const bench = await stopAfterAll(createHealthBench());

describe("parts that fail", () => {
  it("remove their checks from the score, but not the result", async () => {
    const half: Handler = (request, response, seen) => {
      if (seen.path === "/") return careful(request, response, seen);
      request.socket.destroy();
      return true;
    };
    const site = await bench.serveTls(half, {}, { h2: false });
    const silent = await bench.serve({ handler: () => true });
    const result = await bench.resultOf(`https://${HOST}:${site.port}/`, { http: silent.port, https: 443 }, 4000);
    expect(checksOf(result, "indexable_robots", "security_txt", "https_redirect")).toEqual({
      indexable_robots: "0/1 na",
      security_txt: "0/1 na",
      https_redirect: "0/4 na",
    });
    expect(result.limitations.join(" ")).toMatch(/http:\/\/ took too long.*robots\.txt could not be fetched/);
  });

  it("include an HTML page in place of a well-known file", async () => {
    const soft: Handler = (_request, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Not found</title>");
      return true;
    };
    const site = await bench.serveTls(soft);
    const result = await bench.resultOf(`https://${HOST}:${site.port}/`);
    expect(checksOf(result, "indexable_robots", "security_txt", "csp")).toEqual({
      indexable_robots: "0/1 fail",
      security_txt: "0/1 fail",
      csp: "0/9 fail",
    });
  });

  it("end at the deadline: a page that never arrives is a timeout of the target", async () => {
    const silent = await bench.serve({ handler: () => true });
    const outcome = await endsBy(1500, () => bench.run(`http://${HOST}:${silent.port}/`, bench.closed, 1500));
    expect(failureOf(outcome)).toMatch(/target\/timeout$/);
  });

  it("end the check if the page's server does not speak TLS", async () => {
    const plain = await bench.serve({});
    expect(failureOf(await bench.run(`https://${HOST}:${plain.port}/`))).toMatch(/^tls\/target\//);
  });
});

it("returns a result limited to F for a page with an error status", async () => {
  const failing: Handler = (_request, response) => {
    response.writeHead(503, { "content-type": "application/json" }).end("{}");
    return true;
  };
  const result = await bench.resultOf(`https://${HOST}:${(await bench.serveTls(failing)).port}/`);
  expect(result.grade_caps[0]).toMatchObject({ grade: "F", check: "status" });
  expect(checksOf(result, "title_desc", "compression")).toEqual({ title_desc: "0/3 na", compression: "0/4 na" });
});
