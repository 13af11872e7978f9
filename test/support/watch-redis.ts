import { Redis } from "ioredis";

/** Everything that Redis is told from now on, one line a command. */
export const watchRedis = async (url: string): Promise<{ lines: string[]; stop(): void }> => {
  const redis = new Redis(url);
  const monitor = await redis.monitor();
  const lines: string[] = [];
  monitor.on("monitor", (_time: string, args: string[]) => lines.push(args.join(" ")));
  return {
    lines,
    stop() {
      monitor.disconnect();
      redis.disconnect();
    },
  };
};
