"""PyTorch/XLA on Etalon."""

DEVICE: str

def register(devices: int = 1, **options: str | int | float | bool) -> None: ...
