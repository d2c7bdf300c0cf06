declare module "s3rver" {
  type StoredObject = { bucket: string; key: string; content: AsyncIterable<Uint8Array>; metadata: unknown };

  export default class S3rver {
    constructor(options: {
      address: string;
      port: number;
      silent: boolean;
      directory: string;
      configureBuckets: { name: string; configs: unknown[] }[];
    });
    store: {
      listObjects(bucket: string, options: Record<string, unknown>): Promise<unknown>;
      putObject(object: StoredObject): Promise<{ size: number; md5: string }>;
      putMetadata(bucket: string, key: string, metadata: unknown, md5: string): Promise<void>;
      getResourcePath(bucket: string, key: string, resource: string): string;
    };
    run(): Promise<{ port: number }>;
    close(): Promise<void>;
  }
}
