/** Key exchange. "any" is TLS 1.3, where the group decides and the exchange is always ephemeral. */
type KeyExchange = "any" | "ECDHE" | "DHE" | "RSA" | "DH" | "ECDH" | "PSK" | "SRP" | "KRB5" | "GOST" | "ECCPWD";

/** Authentication of the server. "any" is TLS 1.3; "none" is anonymous. */
type Authentication = "any" | "ECDSA" | "RSA" | "DSS" | "PSK" | "SRP" | "KRB5" | "GOST" | "password" | "none";

/** A cipher suite with properties parsed from its registered name. */
export interface Suite {
  /** IANA number. */
  readonly code: number;
  /** Registered name. */
  readonly name: string;
  readonly tls13: boolean;
  readonly kx: KeyExchange;
  readonly auth: Authentication;
  /** Strength of the encryption in bits; 0 without encryption. */
  readonly bits: number;
  /** Family of the encryption, e.g. "AES_128_GCM", "3DES", "RC4". */
  readonly cipher: string;
  readonly aead: boolean;
  readonly forwardSecrecy: boolean;
  /** Whether the suite is deliberately weak, for the export rules of the 1990s. */
  readonly exportGrade: boolean;
  /** Whether the suite requires TLS 1.2 or newer. */
  readonly tls12: boolean;
}

/** Key exchange and authentication by the part of the name before "_WITH_", without EXPORT. */
const KEYS: Readonly<Record<string, readonly [KeyExchange, Authentication]>> = {
  RSA: ["RSA", "RSA"],
  DH_DSS: ["DH", "DSS"],
  DH_RSA: ["DH", "RSA"],
  DHE_DSS: ["DHE", "DSS"],
  DHE_RSA: ["DHE", "RSA"],
  DH_anon: ["DHE", "none"],
  ECDH_ECDSA: ["ECDH", "ECDSA"],
  ECDH_RSA: ["ECDH", "RSA"],
  ECDHE_ECDSA: ["ECDHE", "ECDSA"],
  ECDHE_RSA: ["ECDHE", "RSA"],
  ECDH_anon: ["ECDHE", "none"],
  PSK: ["PSK", "PSK"],
  DHE_PSK: ["DHE", "PSK"],
  // RFC 6655 swapped the words in two names.
  PSK_DHE: ["DHE", "PSK"],
  ECDHE_PSK: ["ECDHE", "PSK"],
  RSA_PSK: ["RSA", "PSK"],
  SRP_SHA: ["SRP", "SRP"],
  SRP_SHA_RSA: ["SRP", "RSA"],
  SRP_SHA_DSS: ["SRP", "DSS"],
  KRB5: ["KRB5", "KRB5"],
  ECCPWD: ["ECCPWD", "password"],
};

/** Cipher family and bits by the start of the rest of the name. 3DES has 112 bits (RFC 7525 section 4.1). */
const CIPHERS: readonly (readonly [RegExp, string, number])[] = [
  [/^NULL|^SHA\d+_SHA\d+$/, "NULL", 0],
  [/^(RC4|RC2_CBC)_40|^DES(40_CBC|_CBC_40)/, "EXPORT40", 40],
  [/^RC4_56/, "RC4", 56],
  [/^RC2_CBC_56/, "RC2", 56],
  [/^RC4_128/, "RC4", 128],
  [/^DES_CBC/, "DES", 56],
  [/^3DES/, "3DES", 112],
  [/^IDEA/, "IDEA", 128],
  [/^SEED/, "SEED_CBC", 128],
  [/^CHACHA20_POLY1305/, "CHACHA20_POLY1305", 256],
  [/^(28147_CNT|MAGMA|KUZNYECHIK)/, "GOST", 256],
  [/^SM4/, "SM4", 128],
  [/^AEGIS_128L/, "AEGIS_128L", 128],
  [/^AEGIS_256/, "AEGIS_256", 256],
];
const SIZED = /^(AES|ARIA|CAMELLIA)_(128|256)_(GCM|CCM_8|CCM|CBC)/;
const EPHEMERAL: ReadonlySet<KeyExchange> = new Set(["any", "ECDHE", "DHE", "SRP", "ECCPWD"]);

/** Parses a suite's properties from its name without "TLS_". */
export function readSuite(code: number, name: string, tls13: boolean): Suite {
  const [keys = "", protection = ""] = tls13 ? ["", name.replace(/^.*_WITH_/, "")] : name.split("_WITH_");
  const [kx, auth] = tls13 ? (["any", "any"] as const) : keysOf(keys.replace(/_EXPORT(1024)?$/, ""));
  const { cipher, bits } = cipherOf(protection);
  const aead = /_(GCM|CCM|MGM)|POLY1305|^AEGIS/.test(protection);
  const newHash = /_SHA(256|384)$/.test(protection) && !keys.includes("PSK");
  return {
    code,
    name: `TLS_${name}`,
    tls13,
    kx,
    auth,
    bits,
    cipher,
    aead,
    forwardSecrecy: EPHEMERAL.has(kx),
    exportGrade: keys.includes("EXPORT"),
    tls12: aead || newHash || keys === "GOSTR341112_256",
  };
}

function keysOf(keys: string): readonly [KeyExchange, Authentication] {
  if (keys.startsWith("GOST")) return ["GOST", "GOST"];
  const found = KEYS[keys];
  if (found === undefined) throw new Error(`unknown key exchange ${keys}`);
  return found;
}

function cipherOf(protection: string): { cipher: string; bits: number } {
  const sized = SIZED.exec(protection);
  if (sized) return { cipher: sized[0], bits: Number(sized[2]) };
  const found = CIPHERS.find(([pattern]) => pattern.test(protection));
  if (found === undefined) throw new Error(`unknown cipher ${protection}`);
  return { cipher: found[1], bits: found[2] };
}
