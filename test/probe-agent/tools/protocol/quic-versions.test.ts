import { expect, it } from "vitest";
import { quicVersionName } from "#probe-agent/tools/protocol/findings.ts";

it.each([
  ["0x00000001", "QUIC version 1 (RFC 9000)"],
  ["0x6b3343cf", "QUIC version 2 (RFC 9369)"],
  ["0xff00001d", "QUIC draft 29"],
  ["0x51303436", "Google QUIC Q046"],
  ["0x54303531", "Google QUIC T051"],
  ["0xfaceb002", "mvfst (Meta)"],
  ["0x12345678", "0x12345678"],
])("%s is %s", (version, name) => {
  expect(quicVersionName(version)).toBe(name);
});
