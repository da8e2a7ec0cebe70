import { expect, it } from "vitest";
import { goName } from "#probe-agent/exporter/tls/distinguished-name.ts";

// The texts are those of Debian's prometheus-blackbox-exporter 0.23.0 for certificates with these subjects.

it("names are grouped by type, with the last common name alone and unknown types as octets at the end", () => {
  const subject =
    "3081f0310b3009060355040613024348310d300b06035504080c044265726e3110300e06035504070c075ac3bc7269636831143008060355" +
    "040a0c01413008060355040a0c0142311c3008060355040b0c0178301006035504030c096c6f63616c686f73743117301506092a864886f7" +
    "0d01090116086140622e7465737431133011060a0992268993f22c6401191603657861310b3009060355040513023432310d300b06035504" +
    "110c04333030303110300e06035504090c0720576567203120310d300b060355040c0c044472c3a9310b3009060355042a0c024a6f311430" +
    "1206035504030c0b237365636f6e643b3c783e";
  expect(goName(Buffer.from(subject, "hex"))).toBe(
    String.raw`SERIALNUMBER=42,CN=\#second\;\<x\>,OU=x,O=A+O=B,POSTALCODE=3000,STREET=\ Weg 1\ ,L=Zürich,ST=Bern,C=CH,` +
      "2.5.4.42=#13024a6f,2.5.4.12=#0c044472c3a9,0.9.2342.19200300.100.1.25=#1303657861," +
      "1.2.840.113549.1.9.1=#0c086140622e74657374",
  );
});

it("the order of the certificate does not count, but that of the values of one type does", () => {
  const subject =
    "3081bf310a300806035504110c0131310a300806035504090c0173310b300906035504070c026c31310c300a060355040b0c036f7531310b" +
    "3009060355040a0c026f31310b3009060355040613024348310c300a06035504080c03737431310b300906035504070c026c32310b300906" +
    "0355040a0c026f32310c300a060355040b0c036f7532310b3009060355040a0c026f33310a3008060355040c0c0174310e300c0603550403" +
    "0c0573656c66793111300f060a0992268993f22c6401010c0175";
  expect(goName(Buffer.from(subject, "hex"))).toBe(
    "CN=selfy,OU=ou1+OU=ou2,O=o1+O=o2+O=o3,POSTALCODE=1,STREET=s,L=l1+L=l2,ST=st1,C=CH," +
      "0.9.2342.19200300.100.1.1=#130175,2.5.4.12=#130174",
  );
});

it("quotes, commas, pluses and non-ASCII letters are as in Go", () => {
  const subject =
    "303c310b300906035504061302434831163014060355040a0c0d546573742c20526f6f742b436f3115301306035504030c0c52c3b66f7420" +
    "224122202331";
  expect(goName(Buffer.from(subject, "hex"))).toBe(String.raw`CN=Röot \"A\" #1,O=Test\, Root\+Co,C=CH`);
});

it("octets that are no name have no text", () => {
  expect(goName(Buffer.from("3103", "hex"))).toBe("");
});
