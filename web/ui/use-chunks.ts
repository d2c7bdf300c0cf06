import { useMemo, useRef } from "preact/hooks";

/** Splits rows into chunks of `size`. An unchanged chunk stays the same array. */
export function useChunks<Row>(rows: Row[], size: number): Row[][] {
  const before = useRef<Row[][]>([]);
  return useMemo(() => {
    const chunks = Array.from({ length: Math.ceil(rows.length / size) }, (_, index) => {
      const chunk = rows.slice(index * size, (index + 1) * size);
      const last = before.current[index];
      return last?.length === chunk.length && last.every((row, at) => row === chunk[at]) ? last : chunk;
    });
    before.current = chunks;
    return chunks;
  }, [rows, size]);
}
