import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { callService } from "#shared/client/call.ts";
import { useProxies } from "#shared/client/proxies.ts";

let asked: string[] = [];
const note = ({ method, url, headers }: IncomingMessage) => void asked.push(`${method} ${url} ${headers.host}`);
const proxy = createServer((request, response) => {
  note(request);
  response.end("{}");
});
proxy.on("connect", (request, socket) => {
  note(request);
  socket.end("HTTP/1.1 503 No\r\n\r\n");
});

let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    proxy.listen(0, "127.0.0.1", resolve);
  });
  ({ port } = proxy.address() as AddressInfo);
});
afterEach(() => {
  asked = [];
  useProxies({});
});
afterAll(() => void proxy.close());

it("requests go through the proxies of the environment, but for hosts that are named, and this machine", async () => {
  const address = `http://127.0.0.1:${port}`;
  useProxies({ HTTP_PROXY: address, https_proxy: address, NO_PROXY: "near.example", OTHER: "x" });
  expect(await callService("http://vantage.example/api")).toEqual({ status: 200, body: {} });
  await expect(callService("https://vantage.example/api")).rejects.toThrow(/./);
  expect(asked).toEqual([
    "GET http://vantage.example/api vantage.example",
    "CONNECT vantage.example:443 vantage.example:443",
  ]);
  await expect(callService("http://near.example/")).rejects.toThrow(/./);
  expect(asked).toHaveLength(2);
  for (const host of ["127.0.0.1", "localhost"]) await callService(`http://${host}:${port}/own`);
  expect(asked.slice(2)).toEqual([`GET /own 127.0.0.1:${port}`, `GET /own localhost:${port}`]);
});

it("requests go to the service itself without such variables", async () => {
  useProxies({ PATH: "/bin" });
  await expect(callService("http://vantage.example/api")).rejects.toThrow(/./);
  expect(asked).toEqual([]);
});
