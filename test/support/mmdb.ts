// Writes databases in MaxMind's DB format 2.0 (maxmind.github.io/MaxMind-DB): metadata, search tree, data section.
import { readBlock, readIp } from "#probe-agent/analysis/network/ip-numbers.ts";

/** A value of the data section. Integers are written as uint32, others as double. */
export type MmdbValue = string | number | boolean | readonly MmdbValue[] | { readonly [key: string]: MmdbValue };

/** Content of a database. */
export interface MmdbContent {
  /** Records by CIDR block. IPv4 blocks are at ::/96 of an IPv6 tree, as in the published databases. */
  readonly records: Readonly<Record<string, MmdbValue>>;
  readonly type?: string;
  /** Build time in Unix seconds. */
  readonly buildEpoch?: number;
  /** A tree with only IPv4 has no IPv6. */
  readonly ipVersion?: 4 | 6;
  readonly recordSize?: 24 | 28 | 32;
}

interface Node {
  children: [Node | number | null, Node | number | null];
  /** Number of the node in the order of the tree. */
  index: number;
}

/** Encodes a database. */
export function writeMmdb(content: MmdbContent): Buffer {
  const { ipVersion = 6, recordSize = 24 } = content;
  const data: Buffer[] = [];
  let dataBytes = 0;
  const root: Node = { children: [null, null], index: 0 };
  for (const [cidr, value] of Object.entries(content.records)) {
    const encoded = encode(value);
    insert(root, bitsOf(cidr, ipVersion), dataBytes);
    data.push(encoded);
    dataBytes += encoded.length;
  }
  const nodes = numbered(root);
  const pointer = (child: Node | number | null): number =>
    child === null ? nodes.length : typeof child === "number" ? nodes.length + 16 + child : child.index;
  const tree = nodes.map(({ children: [left, right] }) => pair(pointer(left), pointer(right), recordSize));
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: content.buildEpoch ?? 1_700_000_000,
    database_type: content.type ?? "Test-City",
    description: { en: "made by a test" },
    ip_version: ipVersion,
    languages: ["en"],
    node_count: nodes.length,
    record_size: recordSize,
  });
  const marker = Buffer.from("\u00ab\u00cd\u00efMaxMind.com", "latin1");
  return Buffer.concat([...tree, Buffer.alloc(16), ...data, marker, metadata]);
}

function bitsOf(cidr: string, ipVersion: 4 | 6): number[] {
  const block = readBlock(cidr);
  if (block === null || readIp(cidr.split("/")[0] ?? "") === null) throw new Error(`${cidr} is no block`);
  const width = block.version === 4 ? 32 : 128;
  const text = block.value.toString(2).padStart(width, "0").slice(0, block.prefix);
  const above = block.version === 4 && ipVersion === 6 ? "0".repeat(96) : "";
  return Array.from(above + text, Number);
}

function insert(root: Node, bits: readonly number[], at: number): void {
  let node = root;
  for (const [depth, bit] of bits.entries()) {
    if (depth === bits.length - 1) {
      node.children[bit === 1 ? 1 : 0] = at;
      return;
    }
    const child = node.children[bit === 1 ? 1 : 0];
    if (typeof child === "number") throw new Error("blocks must not lie within each other");
    const below: Node = child ?? { children: [null, null], index: 0 };
    node.children[bit === 1 ? 1 : 0] = below;
    node = below;
  }
}

function numbered(root: Node): Node[] {
  const nodes: Node[] = [root];
  for (const node of nodes) {
    node.index = nodes.indexOf(node);
    for (const child of node.children) if (child !== null && typeof child !== "number") nodes.push(child);
  }
  return nodes;
}

function pair(left: number, right: number, recordSize: 24 | 28 | 32): Buffer {
  const octets = Buffer.alloc(recordSize / 4);
  if (recordSize === 32) {
    octets.writeUInt32BE(left, 0);
    octets.writeUInt32BE(right, 4);
    return octets;
  }
  octets.writeUIntBE(left & 0xffffff, 0, 3);
  octets.writeUIntBE(right & 0xffffff, recordSize === 28 ? 4 : 3, 3);
  if (recordSize === 28) octets[3] = ((left >>> 24) << 4) | (right >>> 24);
  return octets;
}

function encode(value: MmdbValue): Buffer {
  if (typeof value === "string") {
    const text = Buffer.from(value);
    return Buffer.concat([control(2, text.length), text]);
  }
  if (typeof value === "boolean") return control(14, value ? 1 : 0);
  if (typeof value === "number") {
    const octets = Buffer.alloc(Number.isInteger(value) && value >= 0 ? 4 : 8);
    if (octets.length === 4) octets.writeUInt32BE(value);
    else octets.writeDoubleBE(value);
    return Buffer.concat([control(octets.length === 4 ? 6 : 3, octets.length), octets]);
  }
  if (Array.isArray(value)) {
    const items = value as readonly MmdbValue[];
    return Buffer.concat([control(11, items.length), ...items.map(encode)]);
  }
  const fields = Object.entries(value as Readonly<Record<string, MmdbValue>>);
  return Buffer.concat([control(7, fields.length), ...fields.flatMap(([key, field]) => [encode(key), encode(field)])]);
}

/** Encodes type and size. Extended types have a second octet. */
function control(type: number, size: number): Buffer {
  const [short, more] =
    size < 29 ? [size, []] : size < 285 ? [29, [size - 29]] : [30, [(size - 285) >> 8, (size - 285) & 255]];
  return Buffer.from(type > 7 ? [short, type - 7, ...more] : [(type << 5) | short, ...more]);
}
