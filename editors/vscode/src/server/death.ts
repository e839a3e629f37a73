/** Why did a process end? One line out of its exit code and the last of its stderr. Pure. */

const MAX_LINE = 300;

export function reasonOfDeath(code: number | null, signal: string | null, stderr: string): string {
  const how = signal ? `was ended by ${signal}` : `exited with ${code ?? 'no code'}`;
  const line = tellingLine(stderr);
  return line ? `${how}: ${line}` : how;
}

/** The last line of a traceback or of plain words says most. */
export function tellingLine(stderr: string): string {
  const lines = stderr
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean);
  const line = lines.at(-1) ?? '';
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)} …` : line;
}
