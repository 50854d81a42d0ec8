"""`Budget`: a cap on what may be spent and asked for, which is never exceeded."""

from __future__ import annotations

import json
import math
import threading
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import BadConfig
from ..tables import whole_file

__all__ = ["Budget"]


@dataclass
class Budget:
    """How much may be spent and asked for; counts before a request is sent, so that a cap is never exceeded.

    With a ledger the count survives a killed run: the file is written, whole, before each request.
    """

    max_cost: float = math.inf
    """In the currency of the prices, >= 0."""
    max_requests: int | None = None
    """Requests of this run; None: no cap."""
    spent: float = 0.0
    """What earlier runs have spent."""
    ledger: Path | None = None
    """File that keeps the count; where it says more than `spent`, it is right."""
    requests: int = 0
    """Requests of this run so far."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        """Take up what the ledger says."""
        if math.isnan(self.max_cost) or not math.isfinite(self.spent):
            raise BadConfig(f"max_cost {self.max_cost} or spent {self.spent} is no amount", where="max_cost")
        if self.max_cost < 0 or (self.max_requests is not None and self.max_requests < 0):
            raise BadConfig("a budget cannot be below 0; leave the cap out for none", where="max_cost")
        if self.ledger is not None:
            try:
                held = json.loads(self.ledger.read_text(encoding="utf-8"))
                self.spent = max(self.spent, float(held["spent"]))
            except (OSError, ValueError, KeyError, TypeError):
                pass

    def take(self, price: float) -> str:
        """Count one request; returns why it may not be sent, or '' where it may.

        Args:
            price: what it may cost, >= 0.
        """
        if not 0 <= price < math.inf:
            return f"a price of {price} cannot be counted"
        with self._lock:
            if self.max_requests is not None and self.requests >= self.max_requests:
                return f"max_requests {self.max_requests} is reached"
            if self.spent + price > self.max_cost * (1 + 1e-9):
                return f"max_cost {self.max_cost:g} is reached: {self.spent:g} spent, {price:g} a request"
            self.requests += 1
            self.spent += price
            self._keep()
            return ""

    def give_back(self, price: float) -> None:
        """Take back what a request did not cost after all."""
        with self._lock:
            self.spent = max(0.0, self.spent - price)
            self._keep()

    def _keep(self) -> None:
        if self.ledger is not None and self.spent > 0:
            with whole_file(self.ledger) as aside:
                aside.write_text(json.dumps({"spent": round(self.spent, 9)}) + "\n", encoding="utf-8")
