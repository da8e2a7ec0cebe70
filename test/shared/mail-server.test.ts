import { describe, expect, it } from "vitest";
import { mailServer, type MailServer } from "#shared/settings/mail-server.ts";

const PLAIN: MailServer = { host: "mail.example.com", port: 25, tls: "offered", isVerified: true, credentials: null };
const SIGNED = { ...PLAIN, port: 587, tls: "required", credentials: { user: "u", password: "p" } } as const;

describe("the URL of a mail server", () => {
  it.each<[string, MailServer]>([
    ["smtp://mail.example.com", PLAIN],
    ["smtp://Mail.Example.com:2525/", { ...PLAIN, port: 2525 }],
    ["smtp://u:p@mail.example.com", SIGNED],
    [
      "smtp://u%40b.example:p%3A%2F@mail.example.com",
      { ...SIGNED, credentials: { user: "u@b.example", password: "p:/" } },
    ],
    ["smtp://u:p@mail.example.com?starttls=never", { ...SIGNED, tls: "never" }],
    ["smtp://mail.example.com?starttls=required&verify=no", { ...PLAIN, tls: "required", isVerified: false }],
    ["smtps://mail.example.com", { ...PLAIN, port: 465, tls: "implicit" }],
    ["smtps://u:p@mail.example.com:4650", { ...SIGNED, port: 4650, tls: "implicit" }],
    ["smtp://[::1]:1025", { ...PLAIN, host: "::1", port: 1025 }],
    ["smtp://127.0.0.1:1025", { ...PLAIN, host: "127.0.0.1", port: 1025 }],
  ])("%s is read", (text, expected) => expect(mailServer.parse(text)).toEqual(expected));

  it.each([
    "mail.example.com",
    "http://mail.example.com",
    "smtp://",
    "smtp://mail.example.com/path",
    "smtp://mail.example.com:0",
    "smtp://mail.example.com:99999",
    "smtp://u@mail.example.com",
    "smtp://:p@mail.example.com",
    "smtp://u:%zz@mail.example.com",
    "smtp://mail.example.com?starttls=perhaps",
    "smtp://mail.example.com?starttls=constructor",
    "smtp://mail.example.com?verify=0",
    "smtp://mail.example.com?verify=no&verify=yes",
    "smtp://mail.example.com?pool=true",
    "smtps://mail.example.com?starttls=never",
    "smtp://mail.example.com#x",
    "smtp://mail example.com",
    `smtp://${"a".repeat(3_000)}.example`,
  ])("%.60s is refused", (text) => expect(mailServer.parse(text)).toBeUndefined());
});
