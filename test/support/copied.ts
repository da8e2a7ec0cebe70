import { vi } from "vitest";

/**
 * Counts the octets of the buffers that `run` creates by joining or growing. Unlike time, this measures the copying
 * work independently of the machine.
 */
export async function octetsCopied(run: () => void | Promise<void>): Promise<number> {
  let octets = 0;
  const allocUnsafe = Buffer.allocUnsafe.bind(Buffer);
  const concat = Buffer.concat.bind(Buffer);
  const allocating = vi.spyOn(Buffer, "allocUnsafe").mockImplementation((size: number) => {
    octets += size;
    return allocUnsafe(size);
  });
  const joining = vi.spyOn(Buffer, "concat").mockImplementation((list: readonly Uint8Array[], total?: number) => {
    const joined = total === undefined ? concat(list) : concat(list, total);
    octets += joined.length;
    return joined;
  });
  try {
    await run();
  } finally {
    allocating.mockRestore();
    joining.mockRestore();
  }
  return octets;
}
