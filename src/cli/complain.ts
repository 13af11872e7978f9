/** Says what went wrong. It stands alone: the agent says it too, and loads nothing else of the command line. */
export const complain = (text: string): void => void process.stderr.write(`browserpool: ${text}\n`);
