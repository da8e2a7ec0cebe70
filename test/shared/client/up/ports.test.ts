import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { checkListener } from "#shared/client/up/ports.ts";

test("an address in use and one of another machine are reported in one line that names the setting", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  expect(await checkListener("VANTAGE_HTTP_ADDR", { host: "127.0.0.1", port })).toEqual({
    ok: false,
    line: `VANTAGE_HTTP_ADDR 127.0.0.1:${port} is in use: stop the program that uses it, or set another address`,
  });
  await new Promise((resolve) => {
    server.close(resolve);
  });
  expect(await checkListener("VANTAGE_HTTP_ADDR", { host: "127.0.0.1", port })).toEqual({ ok: true });
  expect(await checkListener("VANTAGE_HTTP_ADDR", { host: "192.0.2.77", port })).toEqual({
    ok: false,
    line: `VANTAGE_HTTP_ADDR 192.0.2.77:${port} is not an address of this machine`,
  });
});
