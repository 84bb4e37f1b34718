CREATE PROCEDURE seckill_one_trip(
  p_id BIGINT, p_public VARCHAR(64), p_request VARCHAR(128),
  p_user BIGINT, p_sku BIGINT, p_quantity BIGINT,
  p_strategy VARCHAR(64))
  MODIFIES SQL DATA SQL SECURITY INVOKER
sale: BEGIN
  DECLARE v_run, v_num, v_started BIGINT;
  -- A deadlock, a wait that was too long, a second order of the user: what was
  -- done is taken back, and the caller is told the error itself.
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;

  -- A plain read, which waits for no one.
  SELECT run, num, COALESCE(starts_at <= TIMESTAMPDIFF(MICROSECOND,
         '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000, 1)
    INTO v_run, v_num, v_started FROM stock WHERE id = p_sku;
  IF v_run IS NULL THEN SELECT 'unknown sku', 0; LEAVE sale; END IF;
  IF v_started = 0 THEN SELECT 'not started', 0; LEAVE sale; END IF;
  IF v_num < p_quantity THEN SELECT 'sold out', 0; LEAVE sale; END IF;

  START TRANSACTION;
  -- The hot row, locked from here to the COMMIT.
  UPDATE stock SET num = LAST_INSERT_ID(num - p_quantity)
   WHERE id = p_sku AND run = v_run AND num - p_quantity >= 0;
  IF ROW_COUNT() = 0 THEN
    ROLLBACK;
    SELECT IF((SELECT run FROM stock WHERE id = p_sku) = v_run,
              'sold out', 'reset'), 0;
    LEAVE sale;
  END IF;
  INSERT INTO orders (id, public_id, request_id, user_id, sku_id, quantity,
                      remaining, strategy, run, status)
  VALUES (p_id, p_public,
          p_request, p_user, p_sku, p_quantity,
          LAST_INSERT_ID(), p_strategy, v_run, 'active');
  COMMIT;
  SELECT 'sold', LAST_INSERT_ID() AS remaining;
END
