// The service's JSON: what is on sale, and orders.
declare namespace Json {
  /** GET /api/lab/v1/shop; stock: where the strategy keeps it. */
  interface Shop {
    sku_id: number;
    strategy: string;
    stock: string;
  }

  /** GET /api/v1/skus/ID */
  interface SKU {
    id: number;
    name: string;
    initial: number;
    num: number;
    run: number;
    starts_at: string | null;
    now: string;
    homes?: Record<string, number>;
  }

  interface Order {
    order_id: string;
    request_id: string;
    sku_id: number;
    user_id: number;
    quantity: number;
    remaining: number;
    status: string;
    strategy: string;
    created_at: string;
  }
}
