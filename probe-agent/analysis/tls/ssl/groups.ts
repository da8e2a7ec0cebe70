/** A group for key agreement (IANA, TLS Supported Groups). */
interface Group {
  readonly code: number;
  readonly name: string;
  /** Size of the curve's field or of the prime in bits; null for post-quantum groups. */
  readonly bits: number | null;
  /** Whether recorded traffic stays safe from a future quantum computer. */
  readonly postQuantum: boolean;
}

const CURVES: readonly (readonly [code: number, name: string, bits: number])[] = [
  [29, "X25519", 253],
  [23, "P-256", 256],
  [24, "P-384", 384],
  [25, "P-521", 521],
  [30, "X448", 448],
];
const OLD_CURVES: typeof CURVES = [
  [22, "secp256k1", 256],
  [26, "brainpoolP256r1", 256],
  [27, "brainpoolP384r1", 384],
  [28, "brainpoolP512r1", 512],
  [1, "sect163k1", 163],
  [2, "sect163r1", 163],
  [3, "sect163r2", 163],
  [4, "sect193r1", 193],
  [5, "sect193r2", 193],
  [6, "sect233k1", 233],
  [7, "sect233r1", 233],
  [8, "sect239k1", 239],
  [9, "sect283k1", 283],
  [10, "sect283r1", 283],
  [11, "sect409k1", 409],
  [12, "sect409r1", 409],
  [13, "sect571k1", 571],
  [14, "sect571r1", 571],
  [15, "secp160k1", 160],
  [16, "secp160r1", 160],
  [17, "secp160r2", 160],
  [18, "secp192k1", 192],
  [19, "P-192", 192],
  [20, "secp224k1", 224],
  [21, "P-224", 224],
];
const NEW_CURVES: typeof CURVES = [
  [31, "brainpoolP256r1tls13", 256],
  [32, "brainpoolP384r1tls13", 384],
  [33, "brainpoolP512r1tls13", 512],
  [34, "GC256A", 256],
  [35, "GC256B", 256],
  [36, "GC256C", 256],
  [37, "GC256D", 256],
  [38, "GC512A", 512],
  [39, "GC512B", 512],
  [40, "GC512C", 512],
  [41, "curveSM2", 256],
];
const PRIMES: typeof CURVES = [
  [256, "ffdhe2048", 2048],
  [257, "ffdhe3072", 3072],
  [258, "ffdhe4096", 4096],
  [259, "ffdhe6144", 6144],
  [260, "ffdhe8192", 8192],
];
const POST_QUANTUM: readonly (readonly [code: number, name: string])[] = [
  [0x11ec, "X25519MLKEM768"],
  [0x11eb, "SecP256r1MLKEM768"],
  [0x11ed, "SecP384r1MLKEM1024"],
  [0x0200, "MLKEM512"],
  [0x0201, "MLKEM768"],
  [0x0202, "MLKEM1024"],
  [0x11ee, "curveSM2MLKEM768"],
  [0x6399, "X25519Kyber768Draft00"],
];

/** All known groups by number. */
export const GROUPS: ReadonlyMap<number, Group> = new Map(
  [
    ...[...CURVES, ...OLD_CURVES, ...NEW_CURVES, ...PRIMES].map(
      ([code, name, bits]): Group => ({ code, name, bits, postQuantum: false }),
    ),
    ...POST_QUANTUM.map(([code, name]): Group => ({ code, name, bits: null, postQuantum: true })),
  ].map((group) => [group.code, group]),
);

/** Numbers of the groups to offer TLS 1.3 servers, in lists that are tried in parallel. */
export const TLS13_GROUPS: readonly (readonly number[])[] = [
  codes(CURVES),
  codes([...NEW_CURVES, ...PRIMES]),
  codes(POST_QUANTUM),
];

/**
 * Numbers of the groups to offer with older versions, in parallel lists: only named curves, as servers choose primes.
 */
export const OLD_GROUPS: readonly (readonly number[])[] = [codes(CURVES), codes(OLD_CURVES)];

function codes(rows: readonly (readonly [number, ...unknown[]])[]): number[] {
  return rows.map(([code]) => code);
}
