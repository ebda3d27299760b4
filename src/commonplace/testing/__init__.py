"""For our tests and yours: a clock that only a test moves, a storage kept in memory, and the contract of every storage.

Subclass `StorageContract`, say how a storage is opened, and pytest runs the whole contract over it. Importing this
package adds the scheme `memory://` to the table of backends: `Memory("memory://name")` lives as long as the process.
"""

from __future__ import annotations

from .contract import FrozenClock, PagesContract, StorageContract
from .memory_storage import MemoryStorage

__all__ = ["FrozenClock", "MemoryStorage", "PagesContract", "StorageContract"]
